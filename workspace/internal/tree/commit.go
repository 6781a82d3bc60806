package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/clichain/clichain/internal/localfile"
)

// journal makes changes of a directory that can be undone.
type journal struct {
	ctx  context.Context
	step func(kind, path string) error
	undo []func() error
}

// do makes one change. undo may be nil.
func (j *journal) do(kind, name string, change, undo func() error) error {
	if j.ctx.Err() != nil {
		return context.Cause(j.ctx)
	}
	if err := j.step(kind, name); err != nil {
		return fmt.Errorf("%s %q: %w", kind, name, err)
	}
	if err := change(); err != nil {
		return err
	}
	if undo != nil {
		j.undo = append(j.undo, undo)
	}
	return nil
}

func (j *journal) rollback() (failed error) {
	for _, undo := range slices.Backward(j.undo) {
		failed = errors.Join(failed, undo())
	}
	return failed
}

// commit changes the directory. It writes the new files under temporary names, moves the old files to temporary names,
// and then renames the new ones. After a failure it undoes everything.
func (p *plan) commit(ctx context.Context, step func(kind, path string) error) error {
	j := &journal{ctx: ctx, step: step}
	c := commit{plan: p, journal: j, temp: map[*target]string{}}
	err := c.run()
	if err == nil {
		c.clean()
		return nil
	}
	if failed := j.rollback(); failed != nil {
		return fmt.Errorf("workspace: apply the changes: %w; part of them could not be undone: %w", err, failed)
	}
	if refused := (*ConflictError)(nil); errors.As(err, &refused) {
		return refused
	}
	return fmt.Errorf("workspace: apply the changes: %w", err)
}

type commit struct {
	*plan
	*journal
	temp    map[*target]string // the temporary names of new files
	backups []string
}

func (c *commit) run() error {
	for i := range c.targets {
		if err := c.stage(&c.targets[i]); err != nil {
			return err
		}
	}
	for i := range c.targets {
		if err := c.moveAway(&c.targets[i]); err != nil {
			return err
		}
	}
	for _, name := range slices.Backward(c.emptied) {
		if err := c.removeDir(name); err != nil {
			return err
		}
	}
	for i := range c.targets {
		if t := &c.targets[i]; t.write != nil {
			if err := c.makeParents(t.to()); err != nil {
				return err
			}
			if err := c.place(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// tempName returns a free name in the lowest existing directory above a path that no target removes.
func (c *commit) tempName(name string) string {
	dir := "."
	for parent := range parents(name) {
		info, err := c.root.Lstat(parent)
		if err != nil || !info.IsDir() || slices.Contains(c.emptied, parent) {
			break
		}
		dir = parent
	}
	return path.Join(dir, localfile.TempName())
}

// stage writes a new regular file under a temporary name.
func (c *commit) stage(t *target) error {
	if t.write == nil || t.write.link() {
		return nil
	}
	temp := c.tempName(t.to())
	c.temp[t] = temp
	remove := func() error {
		if err := c.root.Remove(temp); err != nil && !missing(err) {
			return err
		}
		return nil
	}
	return c.do("write", temp, func() error {
		file, err := c.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, t.perm)
		if err != nil {
			return err
		}
		_, err = file.Write(t.content)
		if t.remove != nil && t.before.Mode().IsRegular() {
			err = errors.Join(err, file.Chmod(t.perm))
		}
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, remove())
		}
		return err
	}, remove)
}

// moveAway renames a file that is removed or replaced. It returns a conflict if the file is not the one that was read.
func (c *commit) moveAway(t *target) error {
	if t.remove == nil {
		return nil
	}
	name, backup := t.from(), c.tempName(t.from())
	err := c.do("move", name, func() error { return c.root.Rename(name, backup) }, func() error {
		if _, err := c.root.Lstat(name); !missing(err) {
			return fmt.Errorf("%q exists again; its old content is in %q", name, backup)
		}
		return c.root.Rename(backup, name)
	})
	if missing(err) {
		return conflict(name, "changed during the call")
	} else if err != nil {
		return err
	}
	c.backups = append(c.backups, backup)
	if now, err := c.root.Lstat(backup); err != nil || !sameFile(t.before, now) {
		return conflict(name, "changed during the call")
	}
	return nil
}

func (c *commit) removeDir(name string) error {
	info, err := c.root.Lstat(name)
	if err != nil {
		return err
	}
	err = c.do("remove", name, func() error { return c.root.Remove(name) }, func() error {
		if err := c.root.Mkdir(name, 0o700); err != nil {
			return err
		}
		return c.root.Chmod(name, info.Mode().Perm())
	})
	if errors.Is(err, fs.ErrExist) { // the directory is not empty
		return conflict(name, "changed during the call")
	}
	return err
}

func (c *commit) makeParents(name string) error {
	for parent := range parents(name) {
		info, err := c.root.Lstat(parent)
		if err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			return conflict(name, fmt.Sprintf("is below the %s %q", kindOf(info.Mode()), parent))
		}
		mkdir := func() error { return c.root.Mkdir(parent, 0o777) }
		if err := c.do("create", parent, mkdir, func() error { return c.root.Remove(parent) }); err != nil {
			return err
		}
	}
	return nil
}

// place gives a new file its name. It does not replace a file that another process has made in the meantime.
func (c *commit) place(t *target) error {
	name := t.to()
	err := c.do("place", name, func() error {
		if t.write.link() {
			return c.root.Symlink(string(t.content), name)
		}
		err := c.root.Link(c.temp[t], name)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		// The file system has no hard links.
		if _, err := c.root.Lstat(name); !missing(err) {
			return errors.Join(fs.ErrExist, err)
		}
		return c.root.Rename(c.temp[t], name)
	}, func() error { return c.root.Remove(name) })
	if errors.Is(err, fs.ErrExist) {
		return conflict(name, "changed during the call")
	}
	return err
}

// clean removes the old files and the directories that have become empty. The changes are complete, so an error only
// leaves such a file.
func (c *commit) clean() {
	for _, temp := range c.temp {
		_ = c.root.Remove(temp)
	}
	for _, backup := range c.backups {
		_ = c.root.Remove(backup)
	}
	for _, t := range c.targets {
		for dir := path.Dir(t.from()); t.remove != nil && dir != "."; dir = path.Dir(dir) {
			if info, err := c.root.Lstat(dir); err != nil || !info.IsDir() || c.root.Remove(dir) != nil {
				break
			}
		}
	}
}
