package call

// Changes are the changes that an agent made in a private copy of Request.Dir; see package workspace. The directory
// itself is unchanged. Changes is a plain value that can be stored as JSON.
type Changes struct {
	// Patch is the difference as git writes it, with binary files, modes, renames and symbolic links. It is valid UTF-8
	// without zero bytes: a change with other bytes is binary. The paths are relative to the directory that was copied:
	// the work tree of a repository, or else Request.Dir.
	Patch string `json:"patch"`
	// Dir is Request.Dir relative to the work tree that was copied, with slashes. Empty: it is the directory that was
	// copied.
	Dir string `json:"dir,omitempty"`
	// Files lists the changed files, sorted by path.
	Files []FileChange `json:"files"`
	// Commit is the commit of the repository at the time of the copy. Empty: a directory without a commit.
	Commit string `json:"commit,omitempty"`
	// Tree is git's name of the tree of all copied files, with the uncommitted and untracked ones. The patch applies
	// to this tree.
	Tree string `json:"tree"`
	// SideEffects reports that the agent may also have changed something outside the copy. Its CLI was not confined,
	// or the agent used a tool that acts elsewhere, such as one of an MCP server.
	SideEffects bool `json:"side_effects,omitempty"`
}

// FileChange is the change of one file.
type FileChange struct {
	// Path is relative, with slashes. A path that is not UTF-8 or begins with a quotation mark is quoted as git does it.
	Path string     `json:"path"`
	From string     `json:"from,omitempty"` // the earlier path of a renamed file
	Kind ChangeKind `json:"kind"`
	// Mode is the mode of the file after the change as git writes it, such as "100755". Of a deleted file, it is the
	// mode before the change.
	Mode string `json:"mode"`
	// Added and Deleted count lines. Both are 0 for a binary file.
	Added   int  `json:"added,omitempty"`
	Deleted int  `json:"deleted,omitempty"`
	Binary  bool `json:"binary,omitempty"`
}

// ChangeKind is what happened to a file.
type ChangeKind string

// The kinds of changes. A file whose type changed, such as a file that became a symbolic link, was modified.
const (
	ChangeAdded    ChangeKind = "added"
	ChangeModified ChangeKind = "modified" // its content, its mode or its type
	ChangeRenamed  ChangeKind = "renamed"  // its content may have changed too
	ChangeDeleted  ChangeKind = "deleted"
)
