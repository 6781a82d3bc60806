package call

// Model describes a model that a CLI offers, as far as the CLI reports it. It is a plain value.
type Model struct {
	Name          string   `json:"name"`                     // for Request.Model
	Title         string   `json:"title,omitempty"`          // display name
	Default       bool     `json:"default,omitempty"`        // the CLI uses it by default
	DefaultEffort string   `json:"default_effort,omitempty"` // reasoning effort if Options.Effort is empty
	Efforts       []string `json:"efforts,omitempty"`        // valid values of Options.Effort
	Context       int64    `json:"context,omitempty"`        // context window in tokens; 0: unknown
	Inputs        []string `json:"inputs,omitempty"`         // kinds of input, such as "text" and "image"
}
