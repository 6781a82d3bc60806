package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace/internal/git"
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

// Apply makes the changes in dir, all or none. dir is the Request.Dir of the call, or another directory with the same
// files. If changes.Dir is not empty, dir must be that directory of a repository, and Apply may change all files of its
// work tree.
//
// Each hunk must fit, at its line or at exactly one other place of the file; other changes of the file stay. A file
// that is binary, deleted, or of another type than before must have its old content. If a file does not fit, Apply
// returns a *ConflictError and changes nothing.
//
// The changes may be from an untrusted source. Apply refuses paths outside dir and paths with a .git, and it follows no
// symbolic link. It refuses a patch that the list of files does not describe. It does not check the target of a new
// symbolic link, which can be outside dir. Apply does not change the index of a repository, and needs git only if
// changes.Dir is not empty.
//
// Apply writes the new files beside the old ones and renames them at the end. If that fails or ctx is done, it restores
// the old files. A file that changes during the call is a conflict, unless it changes after the renames have begun. If
// the process is killed during the renames, new and old files can be mixed, and the old ones have temporary names
// beside them.
func Apply(ctx context.Context, dir string, changes *call.Changes) error {
	top := dir
	if changes != nil {
		var err error
		if top, err = topOf(ctx, dir, changes.Dir); err != nil {
			return err
		}
	}
	err := tree.Apply(ctx, top, changes)
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

// topOf returns the directory to which the paths of changes are relative. The value below may be untrusted, so it can
// only select the work tree that git finds.
func topOf(ctx context.Context, dir, below string) (string, error) {
	if below == "" {
		return dir, nil
	}
	o, err := git.Find(ctx, dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	if rel, err := filepath.Rel(o.Top, real); err != nil || filepath.ToSlash(rel) != below {
		return "", fmt.Errorf("workspace: the changes are of the directory %q of a repository, and %s is not that directory",
			below, dir)
	}
	return o.Top, nil
}
