package tree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
)

// Conflict is a file that Apply refuses to change.
type Conflict struct {
	File   string // as in FileChange.Path
	Reason string // such as "is missing"
}

// ConflictError lists the conflicts of Apply, sorted by file. The directory was not changed.
type ConflictError struct{ Conflicts []Conflict }

// Error names the files.
func (e *ConflictError) Error() string {
	var list []string
	for _, c := range e.Conflicts {
		list = append(list, fmt.Sprintf("%q %s", c.File, c.Reason))
	}
	return "workspace: the changes do not fit the directory: " + strings.Join(list, "; ")
}

func conflict(path, reason string) error {
	return &ConflictError{Conflicts: []Conflict{{File: pathText(path), Reason: reason}}}
}

// Apply makes the changes in dir, all or none. See workspace.Apply.
func Apply(ctx context.Context, dir string, c *call.Changes) error {
	return apply(ctx, dir, c, func(string, string) error { return nil })
}

// apply calls step before each change of the directory, with its kind and its path. An error of step makes that change
// fail.
func apply(ctx context.Context, dir string, c *call.Changes, step func(kind, path string) error) error {
	list, err := edits(c)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("workspace: apply the changes: %w", err)
	}
	defer root.Close()
	p := newPlan(root, list)
	if err := p.prepare(ctx); err != nil {
		return err
	}
	if len(p.conflicts) > 0 {
		slices.SortFunc(p.conflicts, func(a, b Conflict) int { return cmp.Compare(a.File, b.File) })
		return &ConflictError{Conflicts: slices.Compact(p.conflicts)}
	}
	return p.commit(ctx, step)
}
