package call

import (
	"encoding/json"
)

// Options are settings that only some backends have. The zero value sets none.
// docs/specs.md has a table of what each built-in backend honours. Names of
// files and directories are taken from the process's own directory.
type Options struct {
	// MaxTurns bounds the agent's turns. Zero: the CLI's own bound.
	MaxTurns int `json:"max_turns,omitempty"`
	// MaxBudgetUSD bounds what one call may cost, in US dollars. Zero: none.
	MaxBudgetUSD float64 `json:"max_budget_usd,omitempty"`
	// AllowedTools and DisallowedTools name tools in the CLI's own terms.
	AllowedTools    []string `json:"allowed_tools,omitempty"`
	DisallowedTools []string `json:"disallowed_tools,omitempty"`
	// PermissionMode is the mode in the CLI's own terms, such as "plan". Empty:
	// the one that Access asks for. One that bypasses permissions needs
	// AccessFull all the same.
	PermissionMode string `json:"permission_mode,omitempty"`
	// SystemMode says what becomes of the CLI's own system prompt. Empty:
	// SystemReplace for AccessNone, else SystemAppend.
	SystemMode SystemMode `json:"system_mode,omitempty"`
	// MCPConfig gives the agent more tools: each element is an object
	// {"mcpServers": {...}}, or a JSON string that names a file with one.
	MCPConfig []json.RawMessage `json:"mcp_config,omitempty"`
	// StrictMCP leaves out all MCP servers but those of MCPConfig.
	StrictMCP bool `json:"strict_mcp,omitempty"`
	// FallbackModel is what the CLI turns to itself when the model is
	// overloaded.
	FallbackModel string `json:"fallback_model,omitempty"`
	// Effort is the reasoning effort in the CLI's own terms, such as "high".
	Effort string `json:"effort,omitempty"`
	// Agents defines subagents: a JSON object in the CLI's own terms.
	Agents json.RawMessage `json:"agents,omitempty"`
	// NoSessionPersistence keeps the session from being stored: nothing can go
	// on from it.
	NoSessionPersistence bool `json:"no_session_persistence,omitempty"`
	// AddDirs are further directories that the agent may work in.
	AddDirs []string `json:"add_dirs,omitempty"`
	// Images are files to look at.
	Images []string `json:"images,omitempty"`
	// Extra holds raw arguments for a CLI, by the backend's name. They come
	// after all others but the prompt, and nothing checks them.
	Extra map[string][]string `json:"extra,omitempty"`
}

// SystemMode says what becomes of a CLI's own system prompt.
type SystemMode string

const (
	// SystemAppend adds the caller's system text to the CLI's own.
	SystemAppend SystemMode = "append"
	// SystemReplace puts it in the place of the CLI's own.
	SystemReplace SystemMode = "replace"
)
