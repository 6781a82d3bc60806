package clichain_test

import (
	"context"
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

	"github.com/clichain/clichain"
)

// aRest is one that is not over.
func aRest(failures int) clichain.Rest {
	now := time.Now().UTC().Round(0)
	return clichain.Rest{Reason: clichain.ReasonUsageLimit, Failures: failures, At: now, Until: now.Add(time.Hour), Probe: now.Add(time.Minute), Scope: "s"}
}

func put(rest clichain.Rest) func(clichain.Rest) clichain.Rest {
	return func(clichain.Rest) clichain.Rest { return rest }
}

// fileStore makes a store that must have nothing to warn of, but for what is
// allowed.
func fileStore(t *testing.T, path string, allowed ...string) (s *clichain.FileStore, warnings *[]string) {
	warnings = &[]string{}
	var mu sync.Mutex
	s = clichain.NewFileStore(path, func(err error) {
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
	for name, open := range map[string]func(t *testing.T) clichain.Store{
		"memory": func(*testing.T) clichain.Store { return clichain.NewMemoryStore() },
		"file": func(t *testing.T) clichain.Store {
			s, _ := fileStore(t, filepath.Join(t.TempDir(), "made", "when needed", "cooldowns.json"))
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, ctx := open(t), t.Context()
			load := func(key string) clichain.Rest {
				rest, err := s.Load(ctx, key)
				require.NoError(t, err)
				return rest
			}
			require.Zero(t, load("a"))
			require.NoError(t, s.Update(ctx, "a", func(r clichain.Rest) clichain.Rest { return r }), "nothing to keep")
			want := aRest(3)
			require.NoError(t, s.Update(ctx, "a", put(want)))
			require.Equal(t, want, load("a"))
			require.Zero(t, load("b"))
			require.NoError(t, s.Update(ctx, "b", put(aRest(1))))
			require.NoError(t, s.Update(ctx, "a", put(clichain.Rest{})))
			require.Zero(t, load("a"))
			require.NotZero(t, load("b"))

			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					for range 5 {
						add := func(r clichain.Rest) clichain.Rest { want := aRest(r.Failures + 1); return want }
						for s.Update(ctx, "sum", add) != nil { // another one had the lock for too long
						}
					}
				})
			}
			calls.Wait()
			require.Equal(t, 40, load("sum").Failures)
		})
	}
}

// What is over goes, and of too much the oldest.
func TestStoresAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	file, _ := fileStore(t, path)
	for name, s := range map[string]clichain.Store{"memory": clichain.NewMemoryStore(), "file": file} {
		t.Run(name, func(t *testing.T) {
			if name == "file" && testing.Short() {
				t.Skip("hundreds of writes")
			}
			old := aRest(1)
			old.At, old.Until, old.Probe = old.At.Add(-9*time.Hour), old.At.Add(-2*time.Hour), time.Time{}
			require.NoError(t, s.Update(t.Context(), "old", put(old)))
			for i := range clichain.MaxRests + 20 {
				require.NoError(t, s.Update(t.Context(), fmt.Sprint("key", i), put(aRest(1))))
			}
			for key, kept := range map[string]bool{"old": false, "key0": false, "key19": false, "key20": true, fmt.Sprint("key", clichain.MaxRests+19): true} {
				rest, err := s.Load(t.Context(), key)
				require.NoError(t, err)
				require.Equal(t, kept, rest != clichain.Rest{}, key)
			}
		})
	}
	info, err := os.Stat(path)
	if err == nil {
		require.Less(t, info.Size(), int64(200<<10))
	}
}

func TestStoreFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clichain", "cooldowns.json")
	s, _ := fileStore(t, path)
	require.NoError(t, s.Update(t.Context(), "a", put(aRest(1))))
	if runtime.GOOS == "windows" {
		t.Skip("modes mean little there")
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, path + ".lock": 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode(), name)
	}
}

// A file that cannot be used fails no call and harms nobody.
func TestStoreFileThatIsNoGood(t *testing.T) {
	text := func(text string) func(*testing.T, string) {
		return func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	}
	const aside, works, unusable = "set aside as", "", "no"
	for _, test := range []struct {
		name string
		make func(t *testing.T, path string)
		want string // the warning, and whether it works afterwards
	}{
		{"missing", func(*testing.T, string) {}, works},
		{"empty", text(""), works},
		{"null", text("null"), works},
		{"no rests", text(`{"version":1}`), works},
		{"of an earlier form", text(`{}`), works},
		{"no JSON", text("\x00\x00\x00"), aside},
		{"cut off", text(`{"version":1,"cooldowns":{"a":{"reason":"usage_lim`), aside},
		{"other JSON", text(`[1,2]`), aside},
		{"nonsense in it", text(`{"version":1,"cooldowns":{"a":{"until":"tomorrow"}}}`), aside},
		{"huge", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
			require.NoError(t, os.Truncate(path, 1<<40))
		}, aside},
		{"of a later form", text(`{"version":2,"what":[]}`), "newer than this program"},
		{"a folder", func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, unusable},
		{"of another user", func(t *testing.T, path string) {
			if os.Geteuid() != 0 {
				t.Skip("takes root")
			}
			text(`{"version":1}`)(t, path)
			require.NoError(t, os.Chown(path, 12345, 12345))
		}, "belongs to another user"},
		{"in no folder", func(t *testing.T, path string) {
			require.NoError(t, os.Remove(filepath.Dir(path)))
			require.NoError(t, os.WriteFile(filepath.Dir(path), nil, 0o600))
		}, unusable},
	} {
		t.Run(test.name, func(t *testing.T) {
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
				next := &backend{name: "next"}
				c := clichain.ChainOf([]clichain.Backend{failing("a", clichain.ReasonUsageLimit), next}, &clichain.ChainConfig{Store: s})
				_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
				require.NoError(t, err)
			}
			rest, err := s.Load(t.Context(), "a")
			if test.want == works || test.want == aside {
				require.NoError(t, err)
				require.Equal(t, 1, rest.Failures)
			} else {
				require.Error(t, err)
				require.Zero(t, rest)
			}
			corrupt, err := filepath.Glob(path + ".corrupt-*")
			require.NoError(t, err)
			require.Equal(t, test.want == aside, len(corrupt) == 1)
			if test.want == works {
				require.Empty(t, *warnings)
			} else if test.want != unusable {
				require.Len(t, *warnings, 1, "told once")
			}
		})
	}
}

// A folder that cannot be written to: what is there still counts.
func TestStoreThatIsReadOnly(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("such a folder stops nobody here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "cooldowns.json")
	s, _ := fileStore(t, path, "permission denied")
	rest := aRest(1)
	rest.Scope = ""
	require.NoError(t, s.Update(t.Context(), "a", put(rest)))
	require.NoError(t, os.Remove(path+".lock"))
	require.NoError(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	a, next := &backend{name: "a"}, failing("next", clichain.ReasonUsageLimit)
	_, err := clichain.ChainOf([]clichain.Backend{a, next}, &clichain.ChainConfig{Store: s}).Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrCoolingDown)
	require.ErrorIs(t, err, clichain.ErrUsageLimit)
	require.Zero(t, a.asked)
}

// Who has the lock and does not give it back keeps nobody from going on.
func TestStoreLockIsNotWaitedForLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	s, _ := fileStore(t, path)
	other, _ := fileStore(t, path)
	require.NoError(t, s.Update(t.Context(), "a", put(aRest(1))))
	begun, end := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		_ = other.Update(context.Background(), "b", func(clichain.Rest) clichain.Rest { close(begun); <-end; return clichain.Rest{} })
	})
	<-begun
	start := time.Now()
	require.ErrorIs(t, s.Update(t.Context(), "a", put(aRest(2))), context.DeadlineExceeded)
	took := time.Since(start)
	require.GreaterOrEqual(t, took, 190*time.Millisecond)
	require.Less(t, took, 5*time.Second)
	rest, err := s.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, 1, rest.Failures, "reading waits for nobody")
	close(end)
	holder.Wait()
	require.NoError(t, s.Update(t.Context(), "a", put(aRest(2))))
}
