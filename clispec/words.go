package clispec

import "slices"

// OptionFields are the fields that a backend must support if they are set. The prompt and the system text are not in
// the list, because every spec passes them. The directory is not in the list, because the process runs in it.
var OptionFields = []string{
	"model", "session", "session_id", "continue", "max_turns", "max_budget_usd", "allowed_tools", "disallowed_tools",
	"permission_mode", "mcp_config", "strict_mcp", "fallback_model", "effort", "agents", "no_session_persistence",
	"add_dirs", "images", "extra",
}

// OtherForms maps an option to the fields that have its value in another form. A row that uses one of them supports the
// option.
var OtherForms = map[string][]string{"mcp_config": {"mcp_local", "mcp_toml"}}

// Fields are the request fields that a spec can use.
var Fields = slices.Concat([]string{
	"prompt", "system", "system_append", "system_replace", "system_default", "schema", "dir", "temp", "trust_dir", "ask",
	"conversation", "traceparent", "tracestate", "host_url", "host_token", "own_servers", "own_servers_off",
}, OptionFields, OtherForms["mcp_config"])

// EventFields are the fields of an event that a rule can set.
var EventFields = slices.Concat([]string{
	"text", "event_id", "id", "name", "input", "session", "model", "key_source", "trigger", "pre_tokens", "code",
	"message", "status", "try", "delay_ms", "delay_s", "reset_at", "failed", "whole", "partial",
}, WindowFields, Counters)

// WindowFields are the fields of a usage window, in an event of the kind limit. The fields of a rule with
// EventRule.Each are those of one window of the event.
var WindowFields = []string{
	"window", "window_used", "window_used_percent", "window_minutes", "window_reset", "window_reset_s", "window_observed",
}

// CostField is the only field of a usage that is not an integer and that can be unknown.
const CostField = "cost_usd"

// Counters are the fields of a usage that a CLI can accumulate over the calls of a session.
var Counters = []string{
	"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "turns", CostField,
}
