package runs

// Command is what a call would start, without a secret in it and without what was said: the result of Provider.Command.
// It is a plain value that survives JSON.
type Command struct {
	Path string `json:"path"` // Path is the program.
	// Args are its arguments, without its own name. A text of the request stands there by its size, such as
	// "[prompt of 12 bytes]", and a folder that is made for the call alone as "{temp}".
	Args []string `json:"args"`
	// Env are the names of the variables that it gets, sorted.
	Env []string `json:"env"`
	// Dir is the directory that it works in. Empty: the one of a container. Empty says that nothing is in it but empty
	// files of the spec's.
	Dir   string `json:"dir"`
	Empty bool   `json:"dir_is_empty"`
	// Stdin is the size of what it reads from standard input, in bytes. Zero: that is closed.
	Stdin int `json:"stdin_bytes"`
	// Files are made for the call, and go with it.
	Files []File `json:"files"`
	// Model is what the CLI is asked for. Empty: its own choice.
	Model string `json:"model"`
	// Output and Transport are the form of what it prints, and the way of the prompt, in the words of package clispec.
	Output    string `json:"output"`
	Transport string `json:"transport"`
}

// File is a file that a call makes for its CLI. A plain value.
type File struct {
	Path string `json:"path"`
	Size int    `json:"bytes"`
}
