package clispec

import "github.com/clichain/clichain/call"

// ConfineRules tell which files the CLI needs if the kernel confines it. They do not include the files that every
// program needs, the installation of the CLI and the working directory. The zero value means that they are unknown.
// Then the CLI is not confined.
type ConfineRules struct {
	// State lists what the CLI keeps: its login, settings and sessions. The CLI may read, create, change and remove
	// it. Empty: the CLI is not confined.
	State []StatePath `json:"state,omitempty"`
	// Read lists further files and directories that the CLI may read because some logins need them, such as the
	// credentials of a cloud or a CA bundle. They have the form of StatePath.Path. A missing file is ignored.
	Read []string `json:"read,omitempty"`
	// Own lists the access levels at which the CLI itself confines its tools with the kernel. The two confinements
	// cannot be nested, so at these levels that of the CLI applies. If the
	// caller trusts the directory, the call counts as unconfined.
	Own []call.Access `json:"own,omitempty"`
}

// StatePath is a file or directory that a CLI keeps.
type StatePath struct {
	// Path is an absolute path. A "~" at its start is the home directory. The form "${NAME:-path}" is a variable that
	// the CLI sees, or the path if the variable is not set. The form "${NAME}" is no path if it is not set.
	Path string `json:"path"`
	// File: Path is a file. Otherwise it is a directory.
	File bool `json:"file,omitempty"`
	// Optional: clichain does not create Path if it is missing.
	Optional bool `json:"optional,omitempty"`
	// Watch lists the settings, hooks and plugins with which the next start of the CLI can run code. The entries are
	// paths of files and directories below Path, or gjson paths of values in the JSON file Path. The next start may not
	// be confined, so changes of these files and values are reported.
	Watch []string `json:"watch,omitempty"`
}
