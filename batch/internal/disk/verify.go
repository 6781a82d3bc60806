package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// verify ensures that the name of the output refers to the file that contains the records. If the file was deleted or
// renamed, verify creates the file again with all its records. If the name refers to another file, verify writes the
// records to a new file in the same directory, which the error names. The caller holds mu.
func (o *Output[R]) verify() error {
	opened, err := o.file.Stat()
	if err != nil {
		return Explain(o.name, err)
	}
	if opened.Size() != o.size {
		return fmt.Errorf("%s: another program changed it during the run: it has %d bytes instead of %d: run the "+
			"same command again, which retries the lines without a record", o.name, opened.Size(), o.size)
	}
	named, err := os.Lstat(o.name)
	if err == nil && os.SameFile(named, opened) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err = o.replace(o.copied(every), linkOrRename); err == nil {
			return nil
		}
	}
	return o.save(err)
}

func every[R any](R) bool { return true }

// linkOrRename gives a file a name that no other file has. If the file system does not support links, it renames the
// file.
func linkOrRename(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(from, to)
}

// save writes the records to a new file because the output was replaced (cause is nil) or cannot be created.
func (o *Output[R]) save(cause error) error {
	why := "another file replaced it during the run"
	if cause != nil && !errors.Is(cause, fs.ErrExist) {
		why = fmt.Sprintf("it was deleted during the run and cannot be created again (%v)", cause)
	}
	file, err := create(o.name+".saved", modeOf(o.file))
	if err != nil {
		file, err = os.CreateTemp("", "clichain-batch-*.jsonl")
	}
	if err != nil {
		return fmt.Errorf("%s: %s, and its records cannot be saved to another file: %w", o.name, why, err)
	}
	saved := &Output[R]{name: file.Name(), file: file, w: file}
	if err := o.copied(every)(saved); err != nil {
		return fmt.Errorf("%s: %s, and its records cannot be saved to another file: %w", o.name, why, err)
	}
	return fmt.Errorf("%s: %s: its records are in %s: move that file to %[1]s and run the same command again",
		o.name, why, saved.name)
}
