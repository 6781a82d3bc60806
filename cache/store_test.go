package cache_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cache"
	"github.com/stretchr/testify/require"
)

// A file that is damaged, or that is not the answer to the request, is ignored and replaced.
func TestUnusableFiles(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"truncated": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 40)) },
		"empty":     func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
		"huge":      func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 17<<20)) },
		"other request": func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			changed := strings.Replace(string(data), `"question"`, `"other"`, 1)
			require.NoError(t, os.WriteFile(path, []byte(changed), 0o600))
		},
		"old":    func(t *testing.T, path string) { age(t, path, -48*time.Hour) },
		"future": func(t *testing.T, path string) { age(t, path, 48*time.Hour) },
		"link": func(t *testing.T, path string) {
			target := filepath.Join(t.TempDir(), "target")
			require.NoError(t, os.Rename(path, target))
			if err := os.Symlink(target, path); err != nil {
				t.Skip(err)
			}
		},
		"writable by others": func(t *testing.T, path string) {
			if runtime.GOOS == "windows" {
				t.Skip("Windows has no such permissions")
			}
			require.NoError(t, os.Chmod(path, 0o666))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, model := t.TempDir(), newCounting(nil)
			b := newCache(t, model, cache.Config{Dir: dir, MaxAge: 24 * time.Hour})
			ask(t, b, clichain.Prompt("question"))
			damage(t, stored(t, dir)[0])
			require.Equal(t, "QUESTION", ask(t, b, clichain.Prompt("question")).Text)
			require.EqualValues(t, 2, model.calls.Load())
			require.NotEmpty(t, ask(t, b, clichain.Prompt("question")).Flags, "the new answer is stored")
		})
	}
}

func age(t *testing.T, path string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(by)
	require.NoError(t, os.Chtimes(path, at, at))
}

func stored(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return found
}

func TestOldestAnswersAreRemoved(t *testing.T) {
	dir, model := t.TempDir(), newCounting(nil)
	own := filepath.Join(dir, "notes.txt")
	require.NoError(t, os.WriteFile(own, make([]byte, 1<<20), 0o600))
	abandoned := filepath.Join(dir, ".new-ABC")
	require.NoError(t, os.WriteFile(abandoned, nil, 0o600))
	age(t, abandoned, -2*time.Hour)
	long := strings.Repeat("a ", 1000)
	for i := range 8 {
		b := newCache(t, model, cache.Config{Dir: dir, MaxBytes: 20_000})
		ask(t, b, clichain.Prompt(long+string(rune('a'+i))))
		for _, path := range stored(t, dir) {
			if path != own {
				info, err := os.Stat(path)
				require.NoError(t, err)
				age(t, path, time.Until(info.ModTime())-time.Minute)
			}
		}
	}
	total := int64(0)
	for _, path := range stored(t, dir) {
		if info, err := os.Stat(path); err == nil && path != own {
			total += info.Size()
		}
	}
	require.LessOrEqual(t, total, int64(20_000))
	require.Greater(t, total, int64(10_000))
	require.FileExists(t, own, "other files stay")
	require.NoFileExists(t, abandoned)
	before := model.calls.Load()
	b := newCache(t, model, cache.Config{Dir: dir, MaxBytes: 20_000})
	ask(t, b, clichain.Prompt(long+"h"))
	require.Equal(t, before, model.calls.Load(), "the newest answer is kept")
	ask(t, b, clichain.Prompt(long+"a"))
	require.Equal(t, before+1, model.calls.Load(), "the oldest answer is removed")
}

func TestConcurrentCaches(t *testing.T) {
	dir, model := t.TempDir(), newCounting(nil)
	caches := []clichain.Backend{
		newCache(t, model, cache.Config{Dir: dir, MaxBytes: 3000}), newCache(t, model, cache.Config{Dir: dir, MaxBytes: 3000}),
	}
	var calls sync.WaitGroup
	for i := range 60 {
		calls.Go(func() {
			prompt := "prompt " + string(rune('a'+i%6))
			resp, err := caches[i%2].Complete(t.Context(), clichain.Prompt(prompt))
			if err != nil || resp.Text != strings.ToUpper(prompt) || len(resp.Warnings) > 0 {
				t.Error(resp, err)
			}
		})
	}
	calls.Wait()
}

func TestRefusedDirectories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, test := range map[string]struct {
		cfg  cache.Config
		want string
	}{
		"none":         {cache.Config{}, "the directory is missing"},
		"below a file": {cache.Config{Dir: filepath.Join(file, "x")}, "file"},
		"negative":     {cache.Config{Dir: t.TempDir(), MaxBytes: -1}, "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cache.Open(test.cfg)
			require.ErrorContains(t, err, test.want)
		})
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777))
	_, err := cache.Open(cache.Config{Dir: open})
	require.ErrorContains(t, err, "others may write")
}
