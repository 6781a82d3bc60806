package clispec

// QuotaRules tell which usage windows of a plan the CLI reports, and where else than in its output. Event rules parse
// the reports; see [WindowFields].
type QuotaRules struct {
	// Windows are the windows of the plan, by their names; the first match applies. A report about another window is
	// ignored. Empty: all reported windows.
	Windows []WindowRow `json:"windows,omitempty"`
	// File is the file of a session to which the CLI appends reports, in the form of FileFact.Path. In addition, {session}
	// is the id of the session, and one "*" in a name matches any text. The file is read after a run that reported no
	// used share. Empty: there is none.
	File string `json:"file,omitempty"`
	// Ask is the request in the live mode that returns the windows without a request to a model. The event rules of
	// the live mode parse {"method": …, "result": …}. Zero: there is none.
	Ask LiveMessage `json:"ask,omitzero"`
}

// WindowRow describes usage windows by their name.
type WindowRow struct {
	// Name is a regular expression for the whole name.
	Name string `json:"name"`
	// Minutes is the length of the windows. Zero: unknown, unless the report has it.
	Minutes int `json:"minutes,omitempty"`
	// Models is a regular expression for the whole names of the models that use the windows. A reserve ignores the
	// windows in calls of other models. Empty: all models.
	Models string `json:"models,omitempty"`
}
