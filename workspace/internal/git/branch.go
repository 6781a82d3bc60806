package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Branch creates a branch with one commit on top of Commit, whose difference is the patch. It changes neither the work
// tree nor the index of the repository, and runs no hook. It returns the name of the commit. own is an empty git
// directory whose Options.Objects contain Objects. The error wraps *Error if the patch does not apply to the commit, or
// if the name is invalid or exists.
func (o Original) Branch(ctx context.Context, own Repo, name, message, patch string) (commit string, err error) {
	if err := o.CheckBranch(ctx, name); err != nil {
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

// CheckBranch returns an error if Branch cannot create a branch with the name, whatever its patch is.
func (o Original) CheckBranch(ctx context.Context, name string) error {
	out, err := within(ctx, o.Top, "check-ref-format", "--branch", name)
	if err != nil {
		return err
	}
	if string(out) != name+"\n" { // such as "@{-1}"
		return fmt.Errorf("workspace: %q is not the name of a new branch", name)
	}
	if _, err := o.author(ctx); err != nil {
		return err
	}
	refs, err := o.Ask(ctx, nil, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(refs)) {
		branch := strings.TrimSuffix(line, "\n")
		if branch == name || strings.HasPrefix(branch, name+"/") || strings.HasPrefix(name, branch+"/") {
			return fmt.Errorf("workspace: the branch %q exists already: use another name than %q", branch, name)
		}
	}
	return nil
}

// Filtered returns the first of the paths to which git applies a filter when it adds the file, such as that of Git LFS.
// It returns "" if there is none.
func (o Original) Filtered(ctx context.Context, paths []string) (string, error) {
	input := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := o.Ask(ctx, input, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return "", err
	}
	const path, value, length = 0, 2, 3
	for record := range slices.Chunk(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), length) {
		if len(record) < length || record[value] == "unspecified" {
			continue
		}
		for _, program := range []string{"clean", "process"} {
			command, err := optional(o.Ask(ctx, nil, "config", "--get", "filter."+record[value]+"."+program))
			if err != nil || command != "" {
				return record[path], err
			}
		}
	}
	return "", nil
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
