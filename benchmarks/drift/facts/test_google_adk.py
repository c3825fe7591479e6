"""Plain pytest: which questions of google_adk.yaml are right on the installed release.

A test passes if the key of its question is right and no other option is.
"""

import importlib


def fields(module, name, *wanted):
    found = getattr(importlib.import_module(module), name).model_fields
    return [one for one in wanted if one in found]


def members(module, name, *wanted):
    owner = getattr(importlib.import_module(module), name)
    return [one for one in wanted if hasattr(owner, one)]


def importable(*modules, name):
    found = []
    for module in modules:
        try:
            present = hasattr(importlib.import_module(module), name)
        except ModuleNotFoundError as error:
            if not module.startswith(error.name):
                raise
            present = False
        if present:
            found.append(module)
    return found


def names(module, *wanted):
    found = importlib.import_module(module)
    return [one for one in wanted if hasattr(found, one)]


RUN_CONFIG = ("google.adk.agents.run_config", "RunConfig")


def test_run_config_metadata():
    options = ("run_metadata", "custom_metadata", "extra_metadata", "user_metadata")
    assert fields(*RUN_CONFIG, *options) == ["custom_metadata"]


def test_run_config_threads():
    options = ("tool_thread_pool_config", "tool_executor_config", "thread_count")
    assert fields(*RUN_CONFIG, *options) == []


def test_thread_pool_class():
    options = ("ToolThreadPoolConfig", "ToolExecutorConfig", "StreamingMode", "ThreadedToolConfig")
    assert names("google.adk.agents.run_config", *options) == ["StreamingMode"]


def test_runner_rewind():
    options = ("undo_async", "rewind_async", "revert_async", "rollback_async")
    assert members("google.adk.runners", "Runner", *options) == ["rewind_async"]


def test_model_error_callback():
    options = (
        "on_model_error_callback",
        "on_llm_failure_callback",
        "model_exception_callback",
        "handle_model_error",
    )
    assert fields("google.adk.agents", "LlmAgent", *options) == ["on_model_error_callback"]


def test_event_rewind_field():
    options = (
        "undo_before_invocation_id",
        "reset_to_invocation_id",
        "rewind_before_invocation_id",
        "replay_from_invocation_id",
    )
    assert fields("google.adk.events", "EventActions", *options) == ["rewind_before_invocation_id"]


def test_event_interaction():
    options = ("interaction_id", "conversation_key", "thread_key", "author")
    assert fields("google.adk.events", "Event", *options) == ["author"]


def test_invocation_streaming_tools():
    options = (
        "streaming_tool_registry",
        "active_streaming_tools",
        "running_tools",
        "live_tool_map",
    )
    found = fields("google.adk.agents", "InvocationContext", *options)
    assert found == ["active_streaming_tools"]


def test_call_limit_default():
    from google.adk.agents.run_config import RunConfig

    assert RunConfig.model_fields["max_llm_calls"].get_default(call_default_factory=True) == 500


def test_app_home():
    options = (
        "google.adk.apps.app",
        "google.adk.applications",
        "google.adk.core.app",
        "google.adk.app_config",
    )
    assert importable(*options, name="App") == ["google.adk.apps.app"]


def test_memory_service_delete():
    options = ("delete_memory", "search_memory", "erase_memory", "query_memory")
    assert members("google.adk.memory", "BaseMemoryService", *options) == ["search_memory"]


def test_session_service_create():
    options = ("make_session", "open_session", "create_session", "start_session")
    assert members("google.adk.sessions", "BaseSessionService", *options) == ["create_session"]


def test_debug_plugin():
    options = ("DebugLoggingPlugin", "DebugPlugin", "LoggingDebugger", "VerbosePlugin")
    module = "google.adk.plugins.debug_logging_plugin"
    assert names(module, *options) == ["DebugLoggingPlugin"]
