package clispec

// ModelRules say which model names a CLI takes.
type ModelRules struct {
	// Accept are regular expressions; the whole name must match one. Empty: any
	// name.
	Accept []string `json:"accept,omitempty"`
	// Aliases map a caller's name to the CLI's.
	Aliases map[string]string `json:"aliases,omitempty"`
	// List says how the models that the CLI offers are learned, without asking one of
	// them. The first rule has the list; those after it add what they know of a model.
	List []ListRule `json:"list,omitempty"`
	// ChoiceCosts says, for people, what a call costs more when it leaves the choice of
	// the model to the CLI. Empty: nothing that is known.
	ChoiceCosts string `json:"choice_costs,omitempty"`
}

// ListRule is one source of the list of models: a command, or a request in the live
// mode.
type ListRule struct {
	Args []string    `json:"args,omitempty"` // Args are the arguments of the command.
	Live LiveMessage `json:"live,omitzero"`  // Live is the request.
	// Path is the gjson path of the list in the JSON that comes of it. Empty: one name
	// on each line.
	Path string `json:"path,omitempty"`
	// Set maps a field of call.Model, by its name in JSON, to the path of its value in
	// an element of the list. Empty: the elements are names.
	Set map[string]string `json:"set,omitempty"`
}

// ModelFields are the fields of call.Model that a ListRule can set.
var ModelFields = []string{"name", "title", "default", "default_effort", "efforts", "context", "inputs"}
