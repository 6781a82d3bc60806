package clispec

// ModelRules define the model names of a CLI.
type ModelRules struct {
	// Accept are regular expressions; the complete name must match one. Empty: any name.
	Accept []string `json:"accept,omitempty"`
	// Aliases map a caller's name to the CLI's.
	Aliases map[string]string `json:"aliases,omitempty"`
	// List defines where to find the models of the CLI without a request to a model. The first rule has the list;
	// later rules add details of its models.
	List []ListRule `json:"list,omitempty"`
	// ChoiceCosts describes, for users, the additional cost of a call without a model. Empty: none is known.
	ChoiceCosts string `json:"choice_costs,omitempty"`
}

// ListRule is one source of the list of models: a command, or a request in the live mode.
type ListRule struct {
	Args []string    `json:"args,omitempty"` // Args are the arguments of the command.
	Live LiveMessage `json:"live,omitzero"`  // Live is the request.
	// Path is the gjson path of the list in the resulting JSON. Empty: one name on each line.
	Path string `json:"path,omitempty"`
	// Set maps a field of call.Model, by its name in JSON, to the path of its value in an element of the list.
	// Empty: the elements are names.
	Set map[string]string `json:"set,omitempty"`
}

// ModelFields are the fields of call.Model that a ListRule can set.
var ModelFields = []string{"name", "title", "default", "default_effort", "efforts", "context", "inputs"}
