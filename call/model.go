package call

// Model is a model that a CLI offers, as far as it tells of it. A plain value.
type Model struct {
	Name          string   `json:"name"`                     // by which it is asked for
	Title         string   `json:"title,omitempty"`          // for people
	Default       bool     `json:"default,omitempty"`        // it is the one that the CLI takes by itself
	DefaultEffort string   `json:"default_effort,omitempty"` // the reasoning effort without Options.Effort
	Efforts       []string `json:"efforts,omitempty"`        // those that Options.Effort can name
	Context       int64    `json:"context,omitempty"`        // tokens that it can read; 0: unknown
	Inputs        []string `json:"inputs,omitempty"`         // kinds of input, such as "text" and "image"
}
