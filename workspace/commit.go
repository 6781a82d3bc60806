package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace/internal/git"
	"github.com/clichain/clichain/workspace/internal/tree"
)

// Commit commits changes to a new branch of the repository that contains dir, on top of its current commit. It returns
// the name of the commit. The files and the index of the repository stay as they are, no hook runs, and the commit has
// the author of git's configuration. The error is a [*ConflictError] if the changes do not fit the commit. For example,
// they are based on uncommitted changes, or git converts the line endings of the files. Commit refuses files to which
// git applies a filter, such as that of Git LFS, because it runs no filter.
//
// The changes may be from an untrusted source: Commit refuses the same ones as [Apply].
func Commit(ctx context.Context, dir, branch, message string, changes *call.Changes) (commit string, err error) {
	written, err := tree.Written(changes)
	if err != nil {
		return "", err
	}
	o, err := git.Find(ctx, dir)
	if err != nil {
		return "", err
	}
	if path, err := o.Filtered(ctx, written); err != nil {
		return "", err
	} else if path != "" {
		return "", fmt.Errorf("workspace: git filters %q in a commit: apply the changes, and commit them with git", path)
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

// CheckBranch returns an error if [Commit] cannot create a branch with that name in the repository that contains dir,
// for example because the branch exists. Use it before an agent begins to work.
func CheckBranch(ctx context.Context, dir, branch string) error {
	o, err := git.Find(ctx, dir)
	if err != nil {
		return err
	}
	return o.CheckBranch(ctx, branch)
}

// paths lists the changed files.
func paths(changes *call.Changes) (list []string) {
	for _, f := range changes.Files {
		list = append(list, f.Path)
	}
	return list
}
