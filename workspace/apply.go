package workspace

import (
	"context"
	"errors"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace/internal/tree"
)

// ConflictError means that changes do not fit a directory: a file is missing, exists already, has another type, or has
// changed in the same places. The directory was not changed.
type ConflictError struct {
	// Files are the paths of the conflicts in the directory, sorted, as in call.FileChange.
	Files []string

	message string
}

// Error names each file with the reason.
func (e *ConflictError) Error() string {
	if e.message == "" {
		return "workspace: the changes do not fit the directory: " + strings.Join(e.Files, ", ")
	}
	return e.message
}

// Apply makes the changes in dir, all or none. dir is the directory that was copied, or another one with the same
// files.
//
// Each hunk must fit, at its line or at exactly one other place of the file; other changes of the file stay. A file
// that is binary, deleted, or of another type than before must have its old content. If a file does not fit, Apply
// returns a *ConflictError and changes nothing.
//
// The changes may be from an untrusted source. Apply refuses paths outside dir and paths with a .git, and it follows no
// symbolic link. It refuses a patch that the list of files does not describe. It does not check the target of a new
// symbolic link, which can be outside dir. Apply does not run git and does not change the index of a repository.
//
// Apply writes the new files beside the old ones and renames them at the end. If that fails or ctx is done, it restores
// the old files. A file that changes during the call is a conflict, unless it changes after the renames have begun. If
// the process is killed during the renames, new and old files can be mixed, and the old ones have temporary names
// beside them.
func Apply(ctx context.Context, dir string, changes *call.Changes) error {
	err := tree.Apply(ctx, dir, changes)
	refused := (*tree.ConflictError)(nil)
	if !errors.As(err, &refused) {
		return err
	}
	conflict := &ConflictError{message: refused.Error()}
	for i, c := range refused.Conflicts {
		if i == 0 || c.File != refused.Conflicts[i-1].File {
			conflict.Files = append(conflict.Files, c.File)
		}
	}
	return conflict
}
