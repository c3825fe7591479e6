DISPUTED = 'í²€'
