package clispec

// ModelRules tell which model names a CLI accepts.
type ModelRules struct {
	// Accept are regular expressions, one of which must match the whole name. Empty: any name.
	Accept []string `json:"accept,omitempty"`
	// Aliases map names of the caller to names of the CLI.
	Aliases map[string]string `json:"aliases,omitempty"`
	// List tells how to get the models that the CLI offers, without a request to a model. The first rule has the
	// list; later rules add details of the models.
	List []ListRule `json:"list,omitempty"`
	// ChoiceCosts tells users which additional cost a call has if the CLI chooses the model. Empty: none is known.
	ChoiceCosts string `json:"choice_costs,omitempty"`
}

// ListRule is one source of the list of models: a command, or a request in the live mode.
type ListRule struct {
	Args []string    `json:"args,omitempty"` // Args are the arguments of the command.
	Live LiveMessage `json:"live,omitzero"`  // Live is the request.
	// Path is the gjson path of the list in the JSON output or response. Empty: the output has one name per line.
	Path string `json:"path,omitempty"`
	// Set maps fields of call.Model, by their JSON names, to paths in an element of the list. Empty: the elements are
	// names.
	Set map[string]string `json:"set,omitempty"`
}

// ModelFields are the fields of call.Model that a ListRule can set.
var ModelFields = []string{"name", "title", "default", "default_effort", "efforts", "context", "inputs"}
