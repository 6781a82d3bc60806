package container_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/specs"
)

// damages replace a path of the state of a CLI, as a confined run of the CLI can.
var damages = []struct {
	name    string
	refused bool // for a directory that the CLI needs
	do      func(t *testing.T, home, path string)
}{
	{"nothing", false, func(*testing.T, string, string) {}},
	{"file", true, func(t *testing.T, _, path string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) }},
	{"directory", false, func(t *testing.T, _, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }},
	{"pipe", true, func(t *testing.T, _, path string) { require.NoError(t, unix.Mkfifo(path, 0o600)) }},
	{"link to a file", true, linkTo("notes.txt")},
	{"link below a file", true, linkTo("notes.txt/x")},
	{"link to a missing directory", false, linkTo("missing/x")},
	{"link to itself", true, func(t *testing.T, _, path string) { require.NoError(t, os.Symlink(path, path)) }},
	{"two links in a circle", true, func(t *testing.T, _, path string) {
		require.NoError(t, os.Symlink(path+".back", path))
		require.NoError(t, os.Symlink(path, path+".back"))
	}},
	{"link to a directory without rights", true, func(t *testing.T, home, path string) {
		require.NoError(t, os.Symlink(filepath.Join(home, "closed/x"), path))
	}},
	{"directory without rights", false, func(t *testing.T, _, path string) { require.NoError(t, os.Mkdir(path, 0)) }},
	{"missing, in a directory that cannot be written", true, func(t *testing.T, home, path string) {
		if parent := filepath.Dir(path); parent != home {
			require.NoError(t, os.Chmod(parent, 0o500))
			return
		}
		require.NoError(t, os.Symlink(filepath.Join(home, "fixed/x"), path))
	}},
}

func linkTo(target string) func(t *testing.T, home, path string) {
	return func(t *testing.T, home, path string) {
		require.NoError(t, os.Symlink(filepath.Join(home, target), path))
	}
}

// A CLI that damages its state does not get its next run unconfined, whatever it puts there. The CLI here
// is a script that tries to leave the confinement.
func TestConfinementAfterDamageToState(t *testing.T) {
	if _, err := landlock.Usable(); err != nil {
		t.Skip(err)
	}
	if os.Geteuid() == 0 { // each CLI has its own process, whose environment the test changes
		t.Parallel()
	}
	for _, spec := range specs.Every() {
		t.Run(spec.Name, func(t *testing.T) {
			if os.Geteuid() == 0 {
				t.Parallel()
			}
			asOtherUser(t, func(t *testing.T) {
				for _, state := range spec.Confine.State {
					for _, damage := range damages {
						for access := clichain.AccessNone; access <= clichain.AccessWrite; access++ {
							refused := damage.refused && !state.Optional && !state.File
							damageState(t, spec, state, access, damage.name, refused, damage.do)
						}
					}
				}
			})
		})
	}
}

// damageState damages one path of the state of a CLI, and calls the CLI.
func damageState(
	t *testing.T, spec clichain.CliSpec, state clispec.StatePath, access clichain.Access, damage string, refused bool,
	do func(t *testing.T, home, path string),
) {
	t.Helper()
	home, cfg := escapist(t)
	template, err := grammar.ReadPath(state.Path)
	require.NoError(t, err)
	paths, _ := template.Paths(grammar.Place{Home: home, Vars: map[string]string{}, Dir: "/"})
	req := clichain.Prompt("hi")
	if req.Access = access; access != clichain.AccessNone {
		req.Dir = filepath.Join(home, "work")
	}
	p := clichain.NewProvider(spec, &cfg)
	if slices.Contains(spec.Confine.Own, access) || errors.Is(p.Check(t.Context(), req), clichain.ErrUnsupported) {
		return
	}
	for _, path := range paths {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		do(t, home, path)
		checked := p.Check(t.Context(), req)
		_, err = p.Complete(t.Context(), req)
		be := call.AsError(spec.Name, err)
		what := fmt.Sprintf("access %s, %s in place of %s: %v", access, damage, path, err)
		require.NoFileExists(t, filepath.Join(home, "escaped"), what)
		if be.Reason == clichain.ReasonUnconfined {
			require.Equal(t, call.StageSkipped, be.Stage, what)
			named := strings.TrimPrefix(be.Hint, "repair or remove ")
			require.Contains(t, be.Message, fmt.Sprintf("%q cannot hold the state of the CLI", named), what)
			require.Contains(t, named, filepath.Dir(path), what) // the damage may also concern a path beside this one
			require.Contains(t, be.Advice, call.Advice{Action: call.ActionSet, Field: "config.confine", Value: "off"}, what)
		} else {
			require.Regexp(t, "^landlock ", be.Confined, what)
			require.Contains(t, be.Stderr, "the script ran", what)
		}
		if refused {
			require.Equal(t, clichain.ReasonUnconfined, be.Reason, what)
		}
		if damage == "nothing" {
			require.NotEqual(t, clichain.ReasonUnconfined, be.Reason, what)
		} else if !strings.Contains(damage, "written") { // known only to a call that creates the state
			require.Equal(t, be.Reason == clichain.ReasonUnconfined, errors.Is(checked, clichain.ErrUnconfined), what)
		}
	}
}

// escapist makes a home directory, and returns it with the configuration of a CLI that writes a file there.
func escapist(t *testing.T) (home string, cfg clichain.Config) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	for _, dir := range []string{"bin", "closed", "fixed", "work"} {
		require.NoError(t, os.Mkdir(filepath.Join(home, dir), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, "notes.txt"), nil, 0o600))
	binary := filepath.Join(home, "bin/cli")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\necho the script ran >&2\n: >"+home+"/escaped\nexit 3\n"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(home, "closed"), 0))
	require.NoError(t, os.Chmod(filepath.Join(home, "fixed"), 0o500))
	t.Cleanup(func() { // otherwise the directory cannot be removed
		_ = filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				err = os.Chmod(path, 0o700)
			}
			return err
		})
	})
	return home, clichain.Config{Binary: binary}
}

// asOtherUser runs the rest of a test as a user who is not root, because root may use files with any mode.
func asOtherUser(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	const inside = "CLICHAIN_TEST_USER"
	if os.Getenv(inside) != "" || os.Geteuid() != 0 {
		test(t)
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("/tmp", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chown(dir, nobody, nobody))
	inChild(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}, inside+"=1", "TMPDIR="+dir, "HOME="+dir)
}

// inChild runs the test again in another process, which must pass it.
func inChild(t *testing.T, attr *syscall.SysProcAttr, env ...string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Path = "/proc/self/exe" // another user may not reach it by its path
	cmd.Env, cmd.SysProcAttr, cmd.Dir = append(os.Environ(), env...), attr, "/"
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name(), "%s", out)
}

// A call in a directory that cannot be confined is refused before the program starts, unless confinement is off.
func TestConfinementOfDirectories(t *testing.T) {
	const read, write = clichain.AccessRead, clichain.AccessWrite
	for _, test := range []struct {
		dir     string // relative to the home directory
		access  clichain.Access
		problem string // empty: the call is confined
	}{
		{"..", write, "contains the home directory"},
		{"/", write, "contains the home directory"},
		{".ssh", read, "holds credentials"},
		{".ssh", write, "holds credentials"},
		{".aws", write, "holds credentials"},
		{".aws/sso", write, "holds credentials"},
		{".codex", read, "holds credentials or the state of another program"},
		{"bin", write, "holds programs"},
		{".config/fish", write, "holds programs or settings"},
		{".", write, ""},
		{".", read, ""},
		{"..", read, ""},
		{"work", write, ""},
	} {
		t.Run(fmt.Sprint(test.dir, " ", test.access), func(t *testing.T) {
			home, spec := confinedHome(t)
			for _, dir := range []string{".aws/sso", ".codex", ".config/fish"} {
				require.NoError(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
			}
			req := clichain.Prompt("touch $HOME/.lumen/started")
			if req.Access, req.Dir = test.access, filepath.Join(home, test.dir); test.dir == "/" {
				req.Dir = "/"
			}
			for _, confine := range []call.Confinement{"", call.ConfineAuto, call.ConfineRequired} {
				resp, err := clichain.NewProvider(spec, &clichain.Config{Confine: confine}).Complete(t.Context(), req)
				if test.problem == "" {
					require.NoError(t, err)
					require.Regexp(t, "^landlock ", resp.Confined)
					continue
				}
				be := chaintest.RequireReason(t, clichain.ReasonUnconfined, err)
				require.Equal(t, "dir", be.Option)
				require.Equal(t, call.StageSkipped, be.Stage)
				require.Contains(t, be.Message, fmt.Sprintf("%q %s", req.Dir, test.problem))
				require.Equal(t, []call.Advice{{Action: call.ActionSet, Field: "config.confine", Value: "off"}}, be.Advice)
				require.NoFileExists(t, filepath.Join(home, ".lumen/started"))
			}
			resp, err := clichain.NewProvider(spec, &clichain.Config{Confine: call.ConfineOff}).Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, "no: confinement is off", resp.Confined)
		})
	}
	t.Run("added directory", func(t *testing.T) {
		home, spec := confinedHome(t)
		spec.Args = append(spec.Args, clispec.ArgRow{Args: []string{"{add_dirs}"}, When: clispec.When{Set: []string{"add_dirs"}}})
		req := clichain.Prompt("echo hi")
		req.Access, req.Dir, req.Options.AddDirs = read, filepath.Join(home, "work"), []string{filepath.Join(home, ".ssh")}
		_, err := clichain.NewProvider(spec, nil).Complete(t.Context(), req)
		be := chaintest.RequireReason(t, clichain.ReasonUnconfined, err)
		require.Equal(t, "options.add_dirs", be.Option)
		require.Contains(t, be.Message, filepath.Join(home, ".ssh"))
	})
}

// A chain asks the next backend in place of one whose state is damaged.
func TestChainAfterUnconfinedBackend(t *testing.T) {
	home, spec := confinedHome(t)
	next := spec
	next.Name, next.Confine.State = "next", []clispec.StatePath{{Path: "~/.next"}}
	require.NoError(t, os.WriteFile(filepath.Join(home, ".lumen"), nil, 0o600))
	resp, err := clichain.NewChain([]clichain.CliSpec{spec, next}, nil).Complete(t.Context(), clichain.Prompt("echo hi"))
	require.NoError(t, err)
	require.Equal(t, "next", resp.Backend)
	require.Len(t, resp.Attempts, 1)
	require.True(t, resp.Attempts[0].Skipped)
	require.Equal(t, clichain.ReasonUnconfined, resp.Attempts[0].Reason)
}
