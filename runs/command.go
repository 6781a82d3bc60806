package runs

// Command describes the process that a call would start, without secrets and without the text of the request.
// It is the result of Provider.Command, and it can be stored as JSON.
type Command struct {
	Path string `json:"path"` // Path is the program.
	// Args are the arguments, without the name of the program. The size of a text replaces the text, as in
	// "[prompt of 12 bytes]". "{temp}" stands for the temporary directory of the call.
	Args []string `json:"args"`
	// Env are the names of the environment variables of the process, sorted.
	Env []string `json:"env"`
	// Dir is the working directory. An empty Dir means the default directory of a container. Empty reports
	// whether the directory contains nothing but empty files that the spec defines.
	Dir   string `json:"dir"`
	Empty bool   `json:"dir_is_empty"`
	// Confined is what would confine the process, as in Response.Confined, and Grants is what it may do with files then.
	Confined string  `json:"confined,omitempty"`
	Grants   []Grant `json:"grants,omitempty"`
	// Stdin is the size of standard input, in bytes. Zero means that standard input is closed.
	Stdin int `json:"stdin_bytes"`
	// Files are created for the call and deleted after it.
	Files []File `json:"files"`
	// Model is the model that the CLI is asked for. If empty, the CLI chooses.
	Model string `json:"model"`
	// Output is the output format, and Transport is how the prompt reaches the CLI. Package clispec defines the
	// values.
	Output    string `json:"output"`
	Transport string `json:"transport"`
}

// Grant is what a confined process may do with a file, or with a directory and everything below it.
type Grant struct {
	Path string `json:"path"`
	// Access are letters: r to read files and list directories, x to execute, w to create, change and remove, d to
	// control devices.
	Access string `json:"access"`
}

// File is a file that a call creates for its CLI.
type File struct {
	Path string `json:"path"`
	Size int    `json:"bytes"`
}
