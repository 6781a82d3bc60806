package clispec

import (
	"slices"
)

// OptionFields are the fields that a backend must honour when they are set.
// The prompt and the system text always find a way, and the directory is the
// process's.
var OptionFields = []string{
	"model", "session", "max_turns", "max_budget_usd", "allowed_tools", "disallowed_tools",
	"permission_mode", "mcp_config", "strict_mcp", "fallback_model", "effort", "agents", "no_session_persistence",
	"add_dirs", "images", "extra",
}

// OtherForms are fields that hold an option's value in another form: a row
// that uses one of them honours the option.
var OtherForms = map[string][]string{"mcp_config": {"mcp_local", "mcp_toml"}}

// Fields are the names a spec may use.
var Fields = slices.Concat([]string{"prompt", "system", "system_append", "system_replace", "schema", "dir", "temp"},
	OptionFields, OtherForms["mcp_config"])

// EventFields are the fields of an event that a rule can set.
var EventFields = []string{
	"text", "id", "name", "input", "session", "model", "key_source", "trigger", "pre_tokens", "code", "message",
	"status", "try", "delay_ms", "delay_s", "reset_at", "failed", "whole", "partial",
	"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "turns", "cost_usd",
}

// CostField is the counter of a usage that is no whole number, and may be
// unknown.
const CostField = "cost_usd"

// Counters are the fields of a usage that a CLI may count on from call to call
// of one session.
var Counters = []string{
	"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "turns", CostField,
}
