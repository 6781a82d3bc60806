package conformance_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
)

// unguarded returns a spec that gives the CLI the arguments, variables and files of full access at every level. If
// sandboxed is set, the arguments for the CLI's own sandbox stay.
func unguarded(spec clichain.CliSpec, sandboxed bool) clichain.CliSpec {
	widen := func(when *clispec.When) (keep bool) {
		keep = len(when.Access) == 0 || slices.Contains(when.Access, clichain.AccessFull)
		if when.Access = nil; keep {
			when.Access = []clichain.Access{clichain.AccessNone, clichain.AccessRead, clichain.AccessWrite, clichain.AccessFull}
		}
		return keep
	}
	spec.Args = slices.DeleteFunc(slices.Clone(spec.Args), func(row clispec.ArgRow) bool {
		return sandboxed && strings.Contains(strings.Join(row.Args, " "), "bypass-approvals-and-sandbox")
	})
	var args []clispec.ArgRow
	for _, row := range spec.Args {
		if sandboxed && strings.Contains(strings.Join(row.Args, " "), "sandbox_mode") || widen(&row.When) {
			args = append(args, row)
		}
	}
	var env []clispec.EnvRow
	for _, row := range spec.Env {
		if widen(&row.When) {
			env = append(env, row)
		}
	}
	spec.Args, spec.Env, spec.Files = args, env, slices.Clone(spec.Files)
	for i, row := range spec.Files {
		if when := row.When; !widen(&when) {
			// Other rows may refer to the file. For qwen it is a setting that works without a terminal.
			spec.Files[i].Content = `{"tools":{"shell":{"enableInteractiveShell":false}}}`
		}
	}
	return spec
}

// trespass is a home in which a model demands what its access does not permit.
type trespass struct {
	cli
	elsewhere string
	met       []string // the demands that were met
	confined  string   // Response.Confined
}

// fileTools are demands to the CLI's tools for files, which run in the process of the CLI: to read a key and to write a
// file. It is empty for a CLI whose tools are limited to the directory, or that has only a shell.
func fileTools(name, key, link string) []loopback.Reply {
	type args = map[string]any
	switch name {
	case home.Claude:
		return []loopback.Reply{
			loopback.Tool("Read", args{"file_path": key}), loopback.Tool("Write", args{"file_path": link, "content": "x"}),
		}
	case home.OpenCode:
		return []loopback.Reply{
			loopback.Tool("read", args{"filePath": key}), loopback.Tool("write", args{"filePath": link, "content": "x"}),
		}
	}
	return nil
}

// commands are demands to the shell, by the name of their effect.
func (x trespass) commands() string {
	return strings.NewReplacer("HOME", x.home.Dir, "WORK", x.home.Work, "ELSEWHERE", x.elsewhere).Replace(strings.Join([]string{
		"echo planted-ran", "cat WORK/notes", "cat HOME/.ssh/id_shell",
		"echo x > WORK/shell", "echo x > WORK/out/shell", "echo x > ELSEWHERE/beside",
	}, "; "))
}

// effects lists the demands that were met: "tells" a text, "writes" a file.
func (x trespass) effects(t *testing.T) (met []string) {
	t.Helper()
	for _, word := range said.FindAllStringSubmatch(results(x.cli), -1) {
		met = append(met, "tells "+word[1])
	}
	for _, dir := range []string{x.home.Work, x.elsewhere} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			if entry.Type().IsRegular() && entry.Name() != "notes" {
				met = append(met, "writes "+filepath.Join(filepath.Base(dir), entry.Name()))
			}
		}
	}
	slices.Sort(met)
	return slices.Compact(met)
}

// trespassing lets a model make its demands.
func trespassing(t *testing.T, spec clichain.CliSpec, access clichain.Access, cfg clichain.Config) (x trespass) {
	t.Helper()
	var script loopback.Script
	x = trespass{cli: startSpec(t, spec, home.LoggedIn, cfg, func(q loopback.Request) loopback.Reply { return script(q) })}
	// Not below /tmp, because the sandbox of codex permits writing there.
	elsewhere, err := os.MkdirTemp("/var/tmp", "clichain-elsewhere-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(elsewhere) }) // no test depends on it
	x.elsewhere = filepath.Join(elsewhere, "elsewhere")
	require.NoError(t, os.Mkdir(x.elsewhere, 0o700))
	require.NoError(t, os.Symlink(x.elsewhere, filepath.Join(x.home.Work, "out")))
	x.home.Write(t, "work/notes", "planted-notes\n")
	x.home.Write(t, ".ssh/id_shell", "planted-key-shell\n")
	x.home.Write(t, ".ssh/id_tool", "planted-key-tool\n")
	files := fileTools(x.home.Name, filepath.Join(x.home.Dir, ".ssh/id_tool"), filepath.Join(x.home.Work, "out/tool"))
	replies := append([]loopback.Reply{shell(x.home.Name, x.commands())}, files...)
	script = loopback.InOrder(append(replies, loopback.Text(hello))...)
	req := x.askIn(access, "go on")
	if access == clichain.AccessNone {
		req.Dir = ""
	}
	resp, err := x.Complete(t.Context(), req)
	require.NoError(t, err, results(x.cli))
	require.Equal(t, hello, resp.Text)
	require.Len(t, x.server.Calls(), len(replies)+1, "the model made another number of tool calls")
	x.met, x.confined = x.effects(t), resp.Confined
	return x
}

// permitted are the demands that the kernel permits at each access level.
var permitted = map[clichain.Access][]string{
	clichain.AccessNone:  {"tells ran"},
	clichain.AccessRead:  {"tells notes", "tells ran"},
	clichain.AccessWrite: {"tells notes", "tells ran", "writes work/shell"},
}

// A model that has all tools of its CLI cannot exceed its access, because the kernel confines the CLI. Without the
// confinement all its demands are met.
func TestConfinedToolCalls(t *testing.T) {
	netns.Require(t)
	for _, name := range confinable() {
		for access, want := range permitted {
			spec, _ := specs.ByName(name)
			t.Run(name+" "+access.String()+" confined", func(t *testing.T) {
				longUnless(t, isFirst(name))
				t.Parallel()
				own := slices.Contains(spec.Confine.Own, access)
				x := trespassing(t, unguarded(spec, own), access, confining(name, call.ConfineAuto))
				require.Regexp(t, confinedBy(name, access), x.confined)
				if own { // the sandbox of codex does not limit reading
					x.met = slices.DeleteFunc(x.met, func(effect string) bool { return effect == "tells key-shell" })
				}
				require.Equal(t, want, x.met, results(x.cli))
			})
			t.Run(name+" "+access.String()+" unconfined", func(t *testing.T) {
				longUnless(t, isFirst(name) && access == clichain.AccessRead)
				t.Parallel()
				x := trespassing(t, unguarded(spec, false), access, confining(name, call.ConfineOff))
				require.Regexp(t, "^no: ", x.confined)
				require.Subset(t, x.met, []string{
					"tells key-shell", "tells notes", "tells ran", "writes elsewhere/beside", "writes elsewhere/shell",
					"writes work/shell",
				})
				if len(fileTools(name, "", "")) > 0 {
					require.Subset(t, x.met, []string{"tells key-tool", "writes elsewhere/tool"})
				}
			})
		}
	}
}

// confining returns the configuration for a call of the CLI. kilo needs more than a minute on a slow machine.
func confining(name string, confine call.Confinement) clichain.Config {
	cfg := clichain.Config{Timeout: longTimeout.Timeout, Confine: confine}
	if name == home.Kilo {
		cfg.Timeout *= 5
	}
	return cfg
}

// Each CLI answers with its own arguments while it is confined.
func TestConfinedAnswers(t *testing.T) {
	for _, name := range confinable() {
		for access := range permitted {
			t.Run(name+" "+access.String(), func(t *testing.T) {
				longUnless(t, isFirst(name) && access == clichain.AccessWrite)
				t.Parallel()
				c := start(t, name, home.LoggedIn, confining(name, call.ConfineAuto), loopback.Always(loopback.Text(hello)))
				req := c.askIn(access, "say hi")
				if access == clichain.AccessNone {
					req.Dir = ""
				}
				resp, err := c.Complete(t.Context(), req)
				if access != clichain.AccessNone && errors.Is(err, clichain.ErrUnsupported) {
					return // the CLI does not have the level
				}
				require.NoError(t, err)
				require.Equal(t, hello, resp.Text)
				require.Regexp(t, confinedBy(name, access), resp.Confined)
			})
		}
	}
}

// confinedBy matches Response.Confined of a CLI at an access level.
func confinedBy(name string, access clichain.Access) string {
	if spec, _ := specs.ByName(name); slices.Contains(spec.Confine.Own, access) {
		return "^own$"
	}
	return `^landlock [1-9]\d*$`
}

// confinable lists the CLIs that can be installed.
func confinable() (names []string) {
	for _, install := range home.Installs() {
		if !slices.Contains(names, install.CLI) {
			names = append(names, install.CLI)
		}
	}
	return names
}
