package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
)

// wary is a CLI that files of a directory can influence in ways that no flag turns off.
func wary() clichain.CliSpec {
	return clichain.CliSpec{
		Name: "wary", Binary: "wary", GuardFiles: []string{".wary/.env"}, FolderFiles: []string{"./.wary", "wary.json"},
		Args: []clispec.ArgRow{
			{Args: []string{"--tools"}, When: clispec.When{Access: []clichain.Access{clichain.AccessRead, clichain.AccessWrite, clichain.AccessFull}}},
			{Args: []string{"-p", "{prompt}"}},
		},
	}
}

// waryRun returns a Provider for it, and the file that records its starts.
func waryRun(t *testing.T, cfg clichain.Config) (p *clichain.Provider, record string) {
	record = filepath.Join(t.TempDir(), "record")
	return chaintest.Provider(t, wary(), cfg, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout("fine\n"))), record
}

func ranIn(t *testing.T, record string) string {
	t.Helper()
	got, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	return got.Dir
}

// A call without access works in a private directory that contains only the guard file, whatever the directory of
// this process is and whatever was there before.
func TestAccessNoneHasAFolderOfItsOwn(t *testing.T) {
	clitest.NoLeaks(t)
	state, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	own := filepath.Join(state, "clichain", "empty", "wary")
	for _, before := range []struct {
		name string
		make func(t *testing.T)
	}{
		{"nothing", func(*testing.T) {}},
		{"a second call", func(*testing.T) {}},
		{"files", func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(own, "wary.json"), []byte("{}"), 0o600))
			require.NoError(t, os.MkdirAll(filepath.Join(own, ".wary", "plugins"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(own, ".wary", ".env"), []byte("KEY=stolen\n"), 0o600))
		}},
		{"a link in place of the guard's folder", func(t *testing.T) {
			require.NoError(t, os.RemoveAll(filepath.Join(own, ".wary")))
			require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "keep"), nil, 0o600))
			require.NoError(t, os.Symlink(elsewhere, filepath.Join(own, ".wary")))
		}},
		{"a folder that others may enter", func(t *testing.T) { require.NoError(t, os.Chmod(own, 0o777)) }},
		{"a deleted working directory", func(t *testing.T) {
			t.Chdir(t.TempDir())
			dir, err := os.Getwd()
			require.NoError(t, err)
			require.NoError(t, os.Remove(dir))
		}},
	} {
		t.Run(before.name, func(t *testing.T) {
			p, record := waryRun(t, clichain.Config{})
			before.make(t)
			_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			dir, err := filepath.EvalSymlinks(own)
			require.NoError(t, err)
			require.Equal(t, dir, ranIn(t, record))
			info, err := os.Lstat(own)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o700)|os.ModeDir, info.Mode())
			requireOnly(t, own, ".wary")
			requireOnly(t, filepath.Join(own, ".wary"), ".env")
			text, err := os.ReadFile(filepath.Join(own, ".wary", ".env"))
			require.NoError(t, err)
			require.Empty(t, text)
		})
	}
	require.FileExists(t, filepath.Join(elsewhere, "keep"), "a link is removed, not followed")
}

// A link in place of the private directory leads to foreign files: nothing of them is removed, and no call works
// there.
func TestALinkInThePlaceOfTheEmptyFolder(t *testing.T) {
	for _, link := range []string{"clichain/empty", "clichain/empty/wary"} {
		t.Run(link, func(t *testing.T) {
			state, work := t.TempDir(), t.TempDir()
			t.Setenv("XDG_STATE_HOME", state)
			keep := filepath.Join(work, "wary", "keep")
			require.NoError(t, os.Mkdir(filepath.Dir(keep), 0o700))
			require.NoError(t, os.WriteFile(keep, nil, 0o600))
			path := filepath.Join(state, filepath.FromSlash(link))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.Symlink(filepath.Join(work, map[bool]string{true: "wary"}[filepath.Base(link) == "wary"]), path))
			p, record := waryRun(t, clichain.Config{})
			_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			chaintest.RequireReason(t, clichain.ReasonSpawn, err)
			require.NoFileExists(t, record)
			require.FileExists(t, keep)
		})
	}
}

func requireOnly(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, name, entries[0].Name())
}

func TestNoStateFolder(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/dev/null/state")
	p, record := waryRun(t, clichain.Config{})
	temp := t.TempDir()
	require.NoError(t, os.Chmod(temp, 0o777)) // so that other users may replace the files
	t.Setenv("TMPDIR", temp)
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	be := chaintest.RequireReason(t, clichain.ReasonSpawn, err)
	require.Contains(t, be.Message, "/dev/null")
	require.Contains(t, be.Hint, "XDG_STATE_HOME")
	require.NoFileExists(t, record)
	req := clichain.Prompt("hi")
	req.Access, req.Dir = clichain.AccessRead, t.TempDir()
	_, err = p.Complete(t.Context(), req)
	require.NoError(t, err, "with access no such folder is needed")
}

// A missing home is not created, and the second call ends like the first one.
func TestMissingHomeStaysMissing(t *testing.T) {
	home := filepath.Join(t.TempDir(), "none")
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", t.TempDir())
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	p, _ := waryRun(t, clichain.Config{})
	var ends []string
	for range 2 {
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		ends = append(ends, fmt.Sprint(err))
		require.NoDirExists(t, home)
	}
	require.Equal(t, ends[0], ends[1])
}

func TestDirWithoutAccessIsRefused(t *testing.T) {
	p, record := waryRun(t, clichain.Config{TrustDir: true})
	req := clichain.Prompt("hi")
	req.Dir = t.TempDir()
	_, err := p.Complete(t.Context(), req)
	be := chaintest.RequireReason(t, clichain.ReasonBadOption, err)
	require.Equal(t, "dir", be.Option)
	require.Contains(t, be.HintText(), "AccessRead")
	require.Contains(t, be.Message, req.Dir)
	require.NoFileExists(t, record)
}

// Files that a CLI cannot ignore must not exist in or above an untrusted directory.
func TestUntrustedFolder(t *testing.T) {
	clitest.NoLeaks(t)
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	read, write, full := clichain.AccessRead, clichain.AccessWrite, clichain.AccessFull
	for _, test := range []struct {
		name, dir, link, file string
		access                clichain.Access
		trust, refused        bool
	}{
		{name: "nothing there", dir: "plain", file: "plain/README", access: read},
		{name: "in the directory", dir: "a", file: "a/wary.json", access: read, refused: true},
		{name: "with write access", dir: "b", file: "b/wary.json", access: write, refused: true},
		{name: "full access trusts", dir: "c", file: "c/wary.json", access: full},
		{name: "trusted", dir: "d", file: "d/wary.json", access: write, trust: true},
		{name: "above, CLI does not read it", dir: "e/below", file: "e/wary.json", access: read},
		{name: "above, CLI reads it", dir: "f/below/it", file: "f/.wary/x", access: read, refused: true},
		{name: "above, trusted", dir: "g/below/it", file: "g/.wary/x", access: read, trust: true},
		{name: "dangling link", dir: "h", file: "h/.wary", access: read, refused: true},
		{name: "above the target of a link", dir: "j/below", link: "link", file: "j/.wary", access: read, refused: true},
		{name: "above the link", dir: "k/below", link: "l/link", file: "l/.wary", access: read, refused: true},
		{name: "the user's own directory", dir: "i", file: ".wary/settings", access: read},
		{name: "the user's own directory, in the home", dir: ".", file: "wary.json", access: read},
	} {
		t.Run(test.name, func(t *testing.T) {
			file, dir := filepath.Join(home, test.file), filepath.Join(home, test.dir)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			require.NoError(t, os.MkdirAll(dir, 0o700))
			if filepath.Base(file) == ".wary" {
				require.NoError(t, os.Symlink("nowhere", file))
			} else {
				require.NoError(t, os.WriteFile(file, nil, 0o600))
			}
			p, record := waryRun(t, clichain.Config{TrustDir: test.trust, Env: []string{"HOME=" + home}})
			req := clichain.Prompt("hi")
			req.Access, req.Dir = test.access, dir
			if test.link != "" {
				req.Dir = filepath.Join(home, test.link)
				require.NoError(t, os.MkdirAll(filepath.Dir(req.Dir), 0o700))
				require.NoError(t, os.Symlink(dir, req.Dir))
			}
			_, err := p.Complete(t.Context(), req)
			if !test.refused {
				require.NoError(t, err)
				require.Equal(t, dir, ranIn(t, record))
				return
			}
			be := chaintest.RequireReason(t, clichain.ReasonUntrustedDir, err)
			require.Equal(t, "dir", be.Option)
			require.Contains(t, be.Message, home)
			require.Contains(t, be.HintText(), "Config.TrustDir")
			require.NoFileExists(t, record, "nothing is started")
		})
	}
}

// A CLI that stores its trusted directories by their real paths must get the real path, also if the caller names no
// directory.
func TestTheFieldOfTheFolderHasNoLinks(t *testing.T) {
	clitest.NoLeaks(t)
	real, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, link))
	for name, dir := range map[string]string{"a link": link, "where this process is": ""} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(real)
			record, spec := filepath.Join(t.TempDir(), "record"), wary()
			spec.Args = append([]clispec.ArgRow{{Args: []string{"--in={dir}"}}}, spec.Args...)
			p := chaintest.Provider(t, spec, clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout("fine\n")))
			req := clichain.Prompt("hi")
			req.Access, req.Dir = clichain.AccessRead, dir
			_, err := p.Complete(t.Context(), req)
			require.NoError(t, err)
			got, err := clitest.ReadRecord(record)
			require.NoError(t, err)
			require.Contains(t, got.Args, "--in="+real)
		})
	}
}

// An added directory is trusted as little as the working directory.
func TestUntrustedAddedFolder(t *testing.T) {
	clitest.NoLeaks(t)
	spec := wary()
	spec.Args = append(spec.Args, clispec.ArgRow{Args: []string{"--add", "{add_dirs}"}, Each: "add_dirs", When: clispec.When{Set: []string{"add_dirs"}}})
	added := t.TempDir()
	ask := func(trust bool) error {
		req := clichain.Prompt("hi")
		req.Access, req.Dir, req.Options.AddDirs = clichain.AccessRead, t.TempDir(), []string{added}
		_, err := chaintest.Provider(t, spec, clichain.Config{TrustDir: trust}, chaintest.Play(chaintest.Stdout("fine\n"))).Complete(t.Context(), req)
		return err
	}
	require.NoError(t, ask(false))
	require.NoError(t, os.WriteFile(filepath.Join(added, "wary.json"), nil, 0o600))
	require.Contains(t, chaintest.RequireReason(t, clichain.ReasonUntrustedDir, ask(false)).Message, added)
	require.NoError(t, ask(true))
}

// Questions about the CLI itself run in a directory whose files cannot answer them.
func TestProbesRunInTheEmptyFolder(t *testing.T) {
	clitest.NoLeaks(t)
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	p, record := waryRun(t, clichain.Config{})
	_, err := p.Probe(t.Context(), []string{"--version"}, 10*time.Second)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(state, "clichain", "empty", "wary"), ranIn(t, record))
	require.FileExists(t, filepath.Join(state, "clichain", "empty", "wary", ".wary", ".env"))
}
