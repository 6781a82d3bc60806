package clichain

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
