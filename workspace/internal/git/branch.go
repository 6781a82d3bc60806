package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Branch creates a branch with one commit on top of Commit, whose difference is the patch. It changes neither the work
// tree nor the index of the repository, and runs no hook. It returns the name of the commit. own is an empty git
// directory whose Options.Objects contain Objects. The error wraps *Error if the patch does not apply to the commit, or
// if the name is invalid or exists.
func (o Original) Branch(ctx context.Context, own Repo, name, message, patch string) (commit string, err error) {
	if _, err := within(ctx, o.Top, "check-ref-format", "--branch", name); err != nil {
		return "", err
	}
	author, err := o.author(ctx)
	if err != nil {
		return "", err
	}
	commit, err = o.commit(ctx, own, author, message, patch)
	if err != nil {
		return "", err
	}
	revisions := commit + "\n"
	if o.Commit != "" {
		revisions += "^" + o.Commit + "\n"
	}
	pack := filepath.Join(o.Objects, "pack", "pack")
	if _, err := own.Run(ctx, strings.NewReader(revisions), "pack-objects", "--revs", "-q", pack); err != nil {
		return "", err
	}
	none := strings.Repeat("0", len(commit)) // the branch must not exist
	_, err = within(ctx, o.Top, "update-ref", "refs/heads/"+name, commit, none)
	return commit, err
}

// commit writes the commit to the objects of own.
func (o Original) commit(ctx context.Context, own Repo, author []string, message, patch string) (string, error) {
	if o.Commit != "" {
		if _, err := own.Run(ctx, nil, "read-tree", o.Commit); err != nil {
			return "", err
		}
	}
	if _, err := own.Run(ctx, strings.NewReader(patch), "apply", "--cached", "--whitespace=nowarn", "-"); err != nil {
		return "", err
	}
	tree, err := own.Run(ctx, nil, "write-tree")
	if err != nil {
		return "", err
	}
	args := append(author, "commit-tree", string(bytes.TrimSpace(tree)))
	if o.Commit != "" {
		args = append(args, "-p", o.Commit)
	}
	commit, err := own.Run(ctx, strings.NewReader(message+"\n"), args...)
	return string(bytes.TrimSpace(commit)), err
}

// author returns the flags that set the author of a commit as the user configured it.
func (o Original) author(ctx context.Context) (flags []string, err error) {
	for _, setting := range []string{"user.name", "user.email"} {
		value, err := optional(o.Ask(ctx, nil, "config", "--get", setting))
		switch {
		case err != nil:
			return nil, err
		case value == "":
			return nil, fmt.Errorf("workspace: %w: run git config --global %s VALUE", errNoAuthor, setting)
		}
		flags = append(flags, "-c", setting+"="+value)
	}
	return flags, nil
}

var errNoAuthor = errors.New("git has no author for the commit")
