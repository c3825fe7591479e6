"""Questions: is the question right? Every option is proven against the real library."""
