package cooldown

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/testtime"
)

// aState returns a state whose cooldown has not ended.
func aState(failures int) State {
	now := time.Now().UTC().Round(0)
	return State{Reason: call.ReasonUsageLimit, Failures: failures, At: now, Until: now.Add(time.Hour), Probe: now.Add(time.Minute), Scope: "s"}
}

func put(state State) func(State) State {
	return func(State) State { return state }
}

// fileStore returns a store that may only warn with one of the allowed texts.
func fileStore(t *testing.T, path string, allowed ...string) (s *File, warnings *[]string) {
	warnings = &[]string{}
	var mu sync.Mutex
	s = NewFile(path, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		*warnings = append(*warnings, err.Error())
		for _, text := range allowed {
			if strings.Contains(err.Error(), text) {
				return
			}
		}
		t.Error("warned:", err)
	})
	return s, warnings
}

func TestStores(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) Store{
		"memory": func(*testing.T) Store { return NewMemory() },
		"file": func(t *testing.T) Store {
			s, _ := fileStore(t, filepath.Join(t.TempDir(), "made", "when needed", "cooldowns.json"))
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, ctx := open(t), t.Context()
			load := func(key string) State {
				state, err := s.Load(ctx, key)
				require.NoError(t, err)
				return state
			}
			require.Zero(t, load("a"))
			require.NoError(t, s.Update(ctx, "a", func(r State) State { return r }), "nothing to keep")
			want := aState(3)
			require.NoError(t, s.Update(ctx, "a", put(want)))
			require.Equal(t, want, load("a"))
			require.Zero(t, load("b"))
			require.NoError(t, s.Update(ctx, "b", put(aState(1))))
			require.NoError(t, s.Update(ctx, "a", put(State{})))
			require.Zero(t, load("a"))
			require.NotZero(t, load("b"))

			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					for range 5 {
						add := func(r State) State { want := aState(r.Failures + 1); return want }
						for s.Update(ctx, "sum", add) != nil { // a holder of the lock may exceed the limit
						}
					}
				})
			}
			calls.Wait()
			require.Equal(t, 40, load("sum").Failures)
		})
	}
}

// A store drops states that have ended, and the oldest ones above its limit.
func TestStoresAreBounded(t *testing.T) {
	old := aState(1)
	old.At, old.Until, old.Probe = old.At.Add(-9*time.Hour), old.At.Add(-2*time.Hour), time.Time{}
	states := map[string]State{"old": old}
	for i := range maxStates {
		state := aState(1)
		state.At = state.At.Add(time.Duration(i-maxStates) * time.Millisecond)
		states[fmt.Sprint("key", i)] = state
	}
	// The test writes a full file, because filling it by updates would write it hundreds of times.
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	text, err := json.Marshal(map[string]any{"version": storeVersion, "cooldowns": states})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	file, _ := fileStore(t, path)
	for name, s := range map[string]Store{"memory": &Memory{states: states}, "file": file} {
		t.Run(name, func(t *testing.T) {
			for i := range 20 {
				require.NoError(t, s.Update(t.Context(), fmt.Sprint("key", maxStates+i), put(aState(1))))
			}
			for key, kept := range map[string]bool{
				"old": false, "key0": false, "key19": false, "key20": true, fmt.Sprint("key", maxStates+19): true,
			} {
				state, err := s.Load(t.Context(), key)
				require.NoError(t, err)
				require.Equal(t, kept, state != State{}, key)
			}
		})
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(200<<10))
}

// States returns the stored states that have not ended.
func TestStoreFileLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	s, _ := fileStore(t, path, "is corrupt")
	states, err := s.States(t.Context())
	require.NoError(t, err)
	require.Empty(t, states)
	want, old := aState(1), State{Reason: call.ReasonTimeout, At: time.Now().Add(-3 * time.Hour)}
	text, err := json.Marshal(map[string]any{"version": 1, "cooldowns": map[string]State{"a": want, "old": old}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	states, err = s.States(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]State{"a": want}, states)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	states, err = s.States(t.Context())
	require.NoError(t, err, "the store renames a corrupt file")
	require.Empty(t, states)
	_, err = new(File).States(t.Context())
	require.Error(t, err)
}

func TestStoreFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clichain", "cooldowns.json")
	s, _ := fileStore(t, path)
	require.NoError(t, s.Update(t.Context(), "a", put(aState(1))))
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, path + ".lock": 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode(), name)
	}
}

// An unusable file fails no call, and its content is kept.
func TestStoreUnusableFile(t *testing.T) {
	text := func(text string) func(*testing.T, string) {
		return func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	}
	const aside, works, unusable = "renamed to", "", "no"
	for _, test := range []struct {
		name string
		make func(t *testing.T, path string)
		want string // a text of the only warning, works, or unusable
	}{
		{"missing", func(*testing.T, string) {}, works},
		{"empty", text(""), works},
		{"JSON null", text("null"), works},
		{"no states", text(`{"version":1}`), works},
		{"file of an earlier version", text(`{}`), works},
		{"binary data", text("\x00\x00\x00"), aside},
		{"truncated JSON", text(`{"version":1,"cooldowns":{"a":{"reason":"usage_lim`), aside},
		{"JSON list", text(`[1,2]`), aside},
		{"invalid time", text(`{"version":1,"cooldowns":{"a":{"until":"tomorrow"}}}`), aside},
		{"huge file", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
			require.NoError(t, os.Truncate(path, 1<<40))
		}, aside},
		{"file of a later version", text(`{"version":2,"what":[]}`), "newer than this program"},
		{"directory in place of the file", func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, unusable},
		{"file of another user", func(t *testing.T, path string) {
			if os.Geteuid() != 0 {
				t.Skip("needs root")
			}
			text(`{"version":1}`)(t, path)
			require.NoError(t, os.Chown(path, 12345, 12345))
		}, "belongs to another user"},
		{"missing directory", func(t *testing.T, path string) {
			require.NoError(t, os.Remove(filepath.Dir(path)))
			require.NoError(t, os.WriteFile(filepath.Dir(path), nil, 0o600))
		}, unusable},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && test.name == "missing directory" {
				t.Skip("Windows reports a missing file below a file")
			}
			dir := filepath.Join(t.TempDir(), "dir")
			require.NoError(t, os.Mkdir(dir, 0o700))
			path := filepath.Join(dir, "cooldowns.json")
			test.make(t, path)
			allowed := []string{test.want}
			if test.want == works {
				allowed = nil
			}
			if test.want == unusable {
				allowed = []string{"cooldowns.json"}
			}
			s, warnings := fileStore(t, path, allowed...)
			for range 3 {
				_ = s.Update(t.Context(), "a", put(aState(1)))
			}
			state, err := s.Load(t.Context(), "a")
			if test.want == works || test.want == aside {
				require.NoError(t, err)
				require.Equal(t, 1, state.Failures)
			} else {
				require.Error(t, err)
				require.Zero(t, state)
			}
			corrupt, err := filepath.Glob(path + ".corrupt-*")
			require.NoError(t, err)
			require.Equal(t, test.want == aside, len(corrupt) == 1)
			if test.want == works {
				require.Empty(t, *warnings)
			} else if test.want != unusable {
				require.Len(t, *warnings, 1, "one warning")
			}
		})
	}
}

// A store in a read-only directory can still be read.
func TestStoreReadOnlyDirectory(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("modes do not restrict this user")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "cooldowns.json")
	s, _ := fileStore(t, path, "permission denied")
	state := aState(1)
	state.Scope = ""
	require.NoError(t, s.Update(t.Context(), "a", put(state)))
	require.NoError(t, os.Remove(path+".lock"))
	require.NoError(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	kept, err := s.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, state, kept)
	require.ErrorContains(t, s.Update(t.Context(), "a", put(aState(2))), "permission denied")
}

// A process that never releases the lock delays other processes only for a short time.
func TestStoreLockTimeout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	s, _ := fileStore(t, path)
	other, _ := fileStore(t, path)
	require.NoError(t, s.Update(t.Context(), "a", put(aState(1))))
	begun, end := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		_ = other.Update(context.Background(), "b", func(State) State { close(begun); <-end; return State{} })
	})
	<-begun
	start := time.Now()
	require.ErrorIs(t, s.Update(t.Context(), "a", put(aState(2))), context.DeadlineExceeded)
	took := time.Since(start)
	require.GreaterOrEqual(t, took, 190*time.Millisecond)
	testtime.Took(t, took, 5*time.Second)
	state, err := s.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, 1, state.Failures, "Load does not wait for the lock")
	close(end)
	holder.Wait()
	require.NoError(t, s.Update(t.Context(), "a", put(aState(2))))
}
