package cooldown

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// table is a map of values in a file that several processes share.
type table[V any] struct {
	path string
	rules[V]
	turns localfile.Turns   // for changes
	tell  func(error) error // reports a corrupt file
}

// rules are the rules for the values of a table.
type rules[V any] struct {
	field string                        // of the JSON in the file
	same  func(a, b V) bool             // reports whether a change has no effect
	empty func(V) bool                  // reports whether a value need not be kept
	prune func(map[string]V, time.Time) // removes stale values, and the oldest ones above the limit
}

func newTable[V any](path string, r rules[V], tell func(error) error) table[V] {
	// A separate file is locked, because the file itself is replaced.
	return table[V]{path: path, rules: r, turns: localfile.NewTurns(path + ".lock"), tell: tell}
}

const (
	// storeLockWait limits the wait for other calls and processes.
	storeLockWait = 200 * time.Millisecond
	// maxStoreFile limits the size of the file; 512 states need far less.
	maxStoreFile = 1 << 20
	// storeVersion is the version of the format. Files of a newer version are not changed.
	storeVersion = 1
)

var (
	errCorrupt  = errors.New("is corrupt")
	errZeroFile = errors.New("this File has no path: make it with NewFile")
)

// load returns all values, without those that prune removes.
func (t *table[V]) load(ctx context.Context) (map[string]V, error) {
	values, err := t.read()
	if errors.Is(err, errCorrupt) {
		// Another process may have replaced it: read again under the lock.
		err = t.locked(ctx, func() error { values, err = t.readOrRename(); return err })
	}
	if err != nil {
		return nil, err
	}
	t.prune(values, time.Now())
	return values, nil
}

func (t *table[V]) update(ctx context.Context, key string, change func(V) V) error {
	return t.locked(ctx, func() error {
		values, err := t.readOrRename()
		if err != nil {
			return err
		}
		next := change(values[key])
		switch {
		case t.same(next, values[key]):
			return nil
		case t.empty(next):
			delete(values, key)
		default:
			values[key] = next
		}
		t.prune(values, time.Now())
		data, err := json.MarshalIndent(map[string]any{"version": storeVersion, t.field: values}, "", "  ")
		if err != nil {
			return err
		}
		return localfile.Replace(t.path, append(data, '\n'))
	})
}

// locked calls do while no other call and no other process changes the file.
func (t *table[V]) locked(ctx context.Context, do func() error) error {
	if !t.turns.Valid() {
		return errZeroFile
	}
	ctx, cancel := context.WithTimeout(ctx, storeLockWait)
	defer cancel()
	unlock, err := t.turns.Lock(ctx, t.checkDir)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// checkDir creates and checks the directory of the file if it is the cache directory of clichain. Any other directory
// is the responsibility of the caller.
func (t *table[V]) checkDir() error {
	if !localfile.InCacheDir(t.path) {
		return nil
	}
	_, err := localfile.CacheDir()
	return err
}

// read returns the values in the file, or none if there is no file.
func (t *table[V]) read() (map[string]V, error) {
	if !t.turns.Valid() {
		return nil, errZeroFile
	}
	data, err := localfile.Read(t.path, maxStoreFile)
	if err == nil {
		err = t.checkDir()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[string]V{}, nil
	case errors.Is(err, localfile.ErrTooBig):
		return nil, fmt.Errorf("%s %w: %v", t.path, errCorrupt, err)
	case err != nil:
		return nil, err
	case !localfile.Mine(t.path):
		return nil, fmt.Errorf("%s belongs to another user", t.path)
	case len(data) == 0:
		return map[string]V{}, nil
	}
	return t.parse(data)
}

func (t *table[V]) parse(data []byte) (values map[string]V, err error) {
	var kept map[string]json.RawMessage
	version := 0
	err = json.Unmarshal(data, &kept)
	if text := kept["version"]; err == nil && text != nil {
		err = json.Unmarshal(text, &version)
	}
	if version > storeVersion {
		return nil, fmt.Errorf("%s has format version %d, which is newer than this program", t.path, version)
	}
	if text := kept[t.field]; err == nil && text != nil {
		err = json.Unmarshal(text, &values)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w: %v", t.path, errCorrupt, err)
	}
	if values == nil {
		values = map[string]V{}
	}
	return values, nil
}

// readOrRename is read for callers that hold the lock. It renames a corrupt file, so that users can examine it.
func (t *table[V]) readOrRename() (map[string]V, error) {
	values, err := t.read()
	if !errors.Is(err, errCorrupt) {
		return values, err
	}
	renamed := t.path + ".corrupt-" + time.Now().UTC().Format("20060102T150405Z")
	if err := localfile.Move(t.path, renamed); err != nil {
		return nil, err
	}
	_ = t.tell(fmt.Errorf("%w; renamed to %s", err, renamed))
	return map[string]V{}, nil
}
