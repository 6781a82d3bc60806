package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/specs"
	"github.com/clichain/clichain/workspace/internal/rename"
	"github.com/clichain/clichain/workspace/internal/slots"
	"github.com/clichain/clichain/workspace/internal/tree"
)

// privateCopy is the copy of a directory in which one attempt works.
type privateCopy struct {
	slot  *slots.Slot
	paths *rename.Paths // from the copy to the original
}

// sweep removes the copies that a killed process left, once in the lifetime of this process.
var sweep sync.Once

// open copies the directory of the request.
func (p *plan) open(ctx context.Context) (*privateCopy, error) {
	cache, err := localfile.CacheDir()
	if err == nil {
		cache, err = filepath.EvalSymlinks(cache)
	}
	if err != nil {
		return nil, fmt.Errorf("workspace: no directory for private copies: %w", err)
	}
	root := filepath.Join(cache, "work")
	sweep.Do(func() { _ = slots.Sweep(ctx, root) }) // a failure only leaves copies behind
	slot, err := slots.Open(ctx, root, slots.Source{
		Dir: p.dir, Carry: p.cfg.Carry, Share: isolates(p.confined), MaxBytes: p.cfg.MaxBytes,
		Identities: specs.ProjectFiles(),
	})
	if err != nil {
		return nil, err
	}
	return &privateCopy{slot, pathsOf(slot, p.dir)}, nil
}

// pathsOf returns the replacement of the paths of a copy. dir is the copied directory as the caller named it.
func pathsOf(s *slots.Slot, dir string) *rename.Paths {
	original := s.Original
	if below := strings.TrimPrefix(s.Dir, s.Top); strings.HasSuffix(dir, below) {
		original = strings.TrimSuffix(dir, below)
	}
	return rename.New(rename.Pair{From: s.Top, To: original})
}

func (c *privateCopy) dir() string { return c.slot.Dir }

// changes returns the difference between the copy now and at its start.
func (c *privateCopy) changes(ctx context.Context) (*call.Changes, error) {
	if err := c.slot.Verify(ctx); err != nil {
		return nil, err
	}
	now, err := tree.Snapshot(ctx, c.slot.Repo)
	if err != nil {
		return nil, err
	}
	changes, err := tree.Diff(ctx, c.slot.Repo, c.slot.Base, now)
	if err != nil {
		return nil, err
	}
	changes.Commit = c.slot.Commit
	if below, err := filepath.Rel(c.slot.Top, c.slot.Dir); err == nil && below != "." {
		changes.Dir = filepath.ToSlash(below)
	}
	return changes, nil
}

func (c *privateCopy) warnings() []string { return c.slot.Warnings }

// close removes the changes, and lets other calls use the copy.
func (c *privateCopy) close() error { return c.slot.Close() }
