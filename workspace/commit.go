package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace/internal/git"
)

// Commit commits changes to a new branch of the repository that contains dir, on top of its current commit. It returns
// the name of the commit. The files and the index of the repository stay as they are, no hook runs, and the commit has
// the author of git's configuration. The error is a [*ConflictError] if the changes do not fit the commit, for example
// because they are based on uncommitted changes.
func Commit(ctx context.Context, dir, branch, message string, changes *call.Changes) (commit string, err error) {
	o, err := git.Find(ctx, dir)
	if err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp("", "clichain-commit-")
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	options := git.Options{Objects: []string{o.Objects}, Format: o.Format}
	own, err := git.Init(ctx, filepath.Join(temp, "git"), temp, options)
	if err != nil {
		return "", err
	}
	commit, err = o.Branch(ctx, own, branch, message, changes.Patch)
	if failed, ok := errors.AsType[*git.Error](err); ok && failed.Command == "apply" {
		return "", &ConflictError{Files: paths(changes), message: failed.Error()}
	}
	return commit, err
}

// paths lists the changed files.
func paths(changes *call.Changes) (list []string) {
	for _, f := range changes.Files {
		list = append(list, f.Path)
	}
	return list
}
