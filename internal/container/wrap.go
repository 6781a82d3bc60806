package container

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/proc"
)

// callVar is the environment variable that marks all processes of a call inside a container.
const callVar = "CLICHAIN_CALL"

// sweepScript is the shell script that ends the remaining processes of a call in a container that keeps running.
// Its arguments are the mark and the temporary directory of the call.
//
//go:embed sweep.sh
var sweepScript string

// Box ends the processes that a call leaves in its container, with the runtime's client. A nil Box means that
// the CLI runs on this machine.
type Box struct {
	path string
	env  []string
	Stop []string // arguments that terminate the processes inside
	End  []string // arguments that kill them and remove remaining files
}

// wrapper builds the shell script that runs inside before the CLI replaces the shell.
type wrapper struct {
	script strings.Builder
	names  []string // of the client's environment variables to pass in
	env    []string // these variables with their values
}

// Wrap converts the invocation of a CLI into one of the runtime's client, which is h.Path. The client runs the
// first of the names that is found inside the container. Values are passed in the client's environment, because
// arguments are visible to all users inside and outside.
func (c *Container) Wrap(inv *compose.Invocation, h *compose.Host, names []string) (*Box, *call.Error) {
	id := path.Base(h.TempDir)
	w := wrapper{names: []string{proc.CookieName}}
	w.pass(callVar, callVar, id)
	if err := w.makeFiles(inv); err != nil {
		return nil, err
	}
	if err := w.setVars(inv.Env); err != nil {
		return nil, err
	}
	w.start(inv, names)

	client := clientEnviron(h.Environ)
	b := c.boxOf(h.Path, client, id, inv.Temp)
	args := append(c.arguments(id, inv, w.names), "-c", w.script.String(), "clichain")
	inv.Args = append(args, inv.Args...)
	inv.Env = append(client, w.env...)
	slices.Sort(inv.Env)
	inv.Temp, inv.Files, inv.Dir = "", nil, ""
	return b, inv.CheckLengths()
}

// arguments returns the arguments of the client, up to those of the shell inside.
func (c *Container) arguments(id string, inv *compose.Invocation, names []string) []string {
	args := append([]string{"exec"}, c.RunArgs...)
	if c.Image != "" {
		args = append([]string{"run"}, c.RunArgs...)
		args = append(args, "--rm", "--init", "--name", id)
	}
	args = append(args, "-i") // otherwise there is no stdin
	for _, name := range names {
		args = append(args, "-e", name)
	}
	if inv.Dir != "" && !inv.Empty { // the empty directory does not exist yet
		args = append(args, "-w", inv.Dir)
	}
	if c.Image != "" {
		return append(args, "--entrypoint", "sh", c.Image)
	}
	return append(args, c.Name, "sh")
}

// boxOf returns the Box of a call. In a container that keeps running, the Box uses the same user as the call,
// because other users cannot see the marks.
func (c *Container) boxOf(program string, env []string, id, temp string) *Box {
	if c.Image != "" {
		return &Box{program, env, []string{"stop", "-t", "1", id}, []string{"rm", "-f", "-v", id}}
	}
	sweep := append([]string{"exec"}, c.RunArgs...)
	sweep = append(sweep, c.Name, "sh", "-c", sweepScript, "clichain", callVar+"="+id, temp)
	return &Box{program, env, sweep, sweep}
}

// clientEnviron returns the environment of the client itself.
func clientEnviron(environ []string) (env []string) {
	list := slices.Concat(clientEnv, compose.WindowsEnv)
	for _, kv := range environ {
		if name, _, ok := strings.Cut(kv, "="); ok && grammar.Matches(list, name) {
			env = append(env, kv)
		}
	}
	return env
}

// pass sets an environment variable inside the container. The client knows it as outer, the CLI as name.
func (w *wrapper) pass(outer, name, value string) {
	w.names = append(w.names, outer)
	w.env = append(w.env, outer+"="+value)
	if outer != name {
		fmt.Fprintf(&w.script, "export %s=\"$%s\"; unset %s\n", name, outer, outer)
	}
}

// setVars passes the environment of the CLI. It renames variables that would affect the client.
func (w *wrapper) setVars(env []string) *call.Error {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		outer := name
		switch {
		case !grammar.IsVariable(name):
			return call.Errorf(call.ReasonUnsupported, "env",
				"the shell in the container cannot pass on the environment variable %q", name)
		case name == callVar || name == proc.CookieName:
			continue // Wrap passes these
		case grammar.Matches(renamedEnv, name):
			outer = "CLICHAIN_ENV_" + name
		}
		w.pass(outer, name, value)
	}
	return nil
}

// makeFiles writes the temporary directory of the call and its files. Only their owner can read them.
func (w *wrapper) makeFiles(inv *compose.Invocation) *call.Error {
	if inv.Temp == "" {
		return nil
	}
	steps := []string{"umask 077", "mkdir " + quoted(inv.Temp)}
	if inv.Empty {
		steps = append(steps, "mkdir "+quoted(inv.Dir))
	}
	for _, guard := range inv.Guards {
		file := path.Join(inv.Dir, guard)
		steps = append(steps, "mkdir -p "+quoted(path.Dir(file)), ": >"+quoted(file))
	}
	var used []string
	for i, f := range inv.Files {
		name := fmt.Sprintf("CLICHAIN_FILE_%d", i)
		if n := len(name) + 1 + len(f.Content); n > compose.MaxArg {
			return call.Errorf(call.ReasonUnsupported, f.Field,
				"%d bytes exceed the limit of %d for a file in a container", len(f.Content), compose.MaxArg-len(name)-1)
		}
		w.pass(name, name, f.Content)
		steps = append(steps, fmt.Sprintf(`printf %%s "$%s" >%s`, name, quoted(f.Path)))
		used = append(used, name)
	}
	fmt.Fprintf(&w.script, "(%s) || { echo 'clichain: cannot make temporary files in the container' >&2; exit 125; }\n",
		strings.Join(steps, " && "))
	if len(used) > 0 {
		fmt.Fprintf(&w.script, "unset %s\n", strings.Join(used, " "))
	}
	return nil
}

// start replaces the shell with the first of the programs that is found.
func (w *wrapper) start(inv *compose.Invocation, names []string) {
	if inv.Empty {
		fmt.Fprintf(&w.script, "cd %s || exit 125\n", quoted(inv.Dir))
	}
	w.distrust(inv)
	list := ""
	for _, name := range names {
		list += " " + quoted(name)
	}
	missing := quoted(fmt.Sprintf("clichain: no program %q in the container", names[0]))
	fmt.Fprintf(&w.script, `for _cli in%s; do command -v "$_cli" >/dev/null 2>&1 && exec "$_cli" "$@"; done
echo %s >&2; exit 127
`, list, missing)
}

// distrust ends the call if the working directory, or a directory that is added to it, contains one of the
// files. For "./name", it also searches all directories above, except the home directory.
func (w *wrapper) distrust(inv *compose.Invocation) {
	if len(inv.Unwanted) == 0 {
		return
	}
	here, above, added := "", "", ""
	for _, name := range inv.Unwanted {
		file, up := strings.CutPrefix(name, "./")
		here += " " + quoted(file)
		if up {
			above += " " + quoted(file)
		}
	}
	for _, dir := range inv.Call.Fields["add_dirs"] {
		added += " " + quoted(dir)
	}
	fmt.Fprintf(&w.script, `_distrust() { for _file; do
[ "$_dir" = "$HOME" ] || ! { [ -e "$_dir/$_file" ] || [ -h "$_dir/$_file" ]; } ||
{ echo "clichain: untrusted: $_dir/$_file in the container" >&2; exit 125; }
done; }
for _top in .%s; do
_dir=$(cd "$_top" && pwd -P) || exit 125
_distrust%s
while [ -n "$_dir" ]; do _dir=${_dir%%/*}; _distrust%s; done
done
unset _top _dir _file
`, added, here, above)
}

// quoted quotes a text as one word of the shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
