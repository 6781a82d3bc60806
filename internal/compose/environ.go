package compose

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
)

// commonEnv lists the host's environment variables that every program needs: PATH, directories, user, language, proxies
// and certificates. The spec or the caller must name every other variable, so that a CLI sees no unrelated secret.
var commonEnv = []string{
	"CLICHAIN_CALL", "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG", "LANGUAGE", "LC_*",
	"TMPDIR", "TMP", "TEMP", "XDG_*", "DBUS_SESSION_BUS_ADDRESS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
}

// WindowsEnv lists the variables without which Windows programs do not start.
var WindowsEnv = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "USERDOMAIN",
	"HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES*", "PROCESSOR_ARCHITECTURE",
	"NUMBER_OF_PROCESSORS",
}

// quietEnv turns off colors, terminal control sequences and prompts.
var quietEnv = []string{"TERM=dumb", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0"}

// shellEnv lists the variables that make each shell run a file or a function before its command. Config.PassEnv must
// contain the exact name to pass one; a pattern does not match it.
var shellEnv = []string{"BASH_ENV", "ENV", "BASH_FUNC_*"}

// Keyring is the variable through which a CLI finds the keyring of the desktop, in which it may keep its login.
const Keyring = "DBUS_SESSION_BUS_ADDRESS"

// socketEnv lists variables that lead to servers of the user, most of them to sockets with a path. Landlock does not
// restrict these sockets, and the servers act outside the confinement. Config.PassEnv must contain the exact name to
// pass one to a confined CLI.
var socketEnv = []string{
	"SSH_AUTH_SOCK", "GPG_AGENT_INFO", "DOCKER_HOST", "CONTAINER_HOST", "DBUS_*", "XDG_RUNTIME_DIR",
	"GNOME_KEYRING_CONTROL", "DISPLAY", "WAYLAND_*", "TMUX", "STY", "KITTY_LISTEN_ON", "NVIM", "NVIM_LISTEN_ADDRESS",
	"VSCODE_IPC_HOOK_CLI",
}

// systemPath replaces a PATH without absolute directories. With an empty PATH, some shells search the working
// directory.
const systemPath = "/usr/bin:/bin"

// CleanPath removes the entries of each PATH that are not absolute directories. The CLI would resolve them against its
// working directory, where anyone may have put a program.
func (h *Host) CleanPath() {
	h.Environ = cleanPath(h.Environ, filepath.SplitList, filepath.IsAbs, string(filepath.ListSeparator))
	if h.Inside { // SetEnv and Env hold paths of the container
		split := func(list string) []string { return strings.Split(list, ":") }
		h.SetEnv, h.Env = cleanPath(h.SetEnv, split, path.IsAbs, ":"), cleanPath(h.Env, split, path.IsAbs, ":")
		return
	}
	own := func(environ []string) []string {
		return cleanPath(environ, filepath.SplitList, filepath.IsAbs, string(filepath.ListSeparator))
	}
	h.SetEnv, h.Env = own(h.SetEnv), own(h.Env)
}

func cleanPath(environ []string, split func(string) []string, isAbs func(string) bool, separator string) []string {
	environ = slices.Clone(environ)
	for i, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if grammar.Matches([]string{"PATH"}, name) {
			kept := slices.DeleteFunc(split(value), func(dir string) bool { return !isAbs(dir) })
			environ[i] = name + "=" + cmp.Or(strings.Join(kept, separator), systemPath)
		}
	}
	return environ
}

// Passed returns the part of the host's environment that the CLI may see for the model, with the variables that the
// spec's SetEnv and Config.Env set. An empty model stands for the default of the CLI.
func (h *Host) Passed(spec *clispec.Spec, model string) map[string]string {
	vars, _, _ := h.passed(spec, model)
	return vars
}

// passed returns the variables of Passed, and the files that a confined CLI may read and change for the model. The
// spec's Confine and the PassEnvIf rules that apply list these files.
func (h *Host) passed(spec *clispec.Spec, model string) (vars map[string]string, read, write []string) {
	vars, read = h.alwaysPassed(spec), slices.Clone(spec.Confine.Read)
	var more []string
	for _, rule := range h.passRules(spec, model, vars) {
		more, read, write = append(more, rule.Pass...), append(read, rule.Read...), append(write, rule.Write...)
	}
	if len(more) > 0 {
		h.pass(spec, more, vars)
		h.set(vars)
	}
	return vars, read, write
}

// alwaysPassed returns the variables that the CLI may see for each model.
func (h *Host) alwaysPassed(spec *clispec.Spec) map[string]string {
	vars := map[string]string{}
	pass := slices.Concat(spec.PassEnv, h.PassEnv)
	if !h.Inside { // the other lists describe this machine
		pass = append(pass, commonEnv...)
	}
	if runtime.GOOS == "windows" && !h.Inside {
		pass = append(pass, WindowsEnv...)
	}
	h.pass(spec, pass, vars)
	h.set(vars)
	return vars
}

// passRules returns the PassEnvIf rules that apply. vars are the variables that always pass.
func (h *Host) passRules(spec *clispec.Spec, model string, vars map[string]string) (rules []clispec.PassRule) {
	for i, rule := range spec.PassEnvIf {
		if i < len(h.Shown) && h.Shown[i] || grammar.FirstSet(rule.Env, vars) != "" ||
			slices.ContainsFunc(rule.Models, func(prefix string) bool { return strings.HasPrefix(model, prefix) }) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// set applies the spec's SetEnv and Config.Env, which override variables of the host.
func (h *Host) set(vars map[string]string) {
	grammar.SetAll(vars, h.SetEnv)
	grammar.SetAll(vars, h.Env)
}

// pass adds the host's variables that match the list and that no rule withholds.
func (h *Host) pass(spec *clispec.Spec, list []string, vars map[string]string) {
	byName := shellEnv
	if h.Confined {
		byName = slices.Concat(shellEnv, socketEnv)
	}
	for _, kv := range h.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if (h.InheritEnv || grammar.Matches(list, name)) && !grammar.Matches(spec.DropEnv, name) &&
			!grammar.Matches(spec.NestedEnv, name) && !grammar.Matches(h.Withheld, name) &&
			(!grammar.Matches(byName, name) || slices.Contains(h.PassEnv, name)) &&
			(!h.Inside || grammar.IsVariable(name)) {
			vars[name] = value
		}
	}
}

// allowedEnv returns an error for a variable of the request that Config.RequestEnv does not list. A deny list could not
// name every variable that loaders, shells, runtimes and CLIs read.
func (h *Host) allowedEnv(env map[string]string) *call.Error {
	for _, name := range namesOf(env) {
		if !grammar.Matches(h.RequestEnv, name) {
			return advised(
				call.Errorf(call.ReasonUnsupported, "env."+name, "the configuration does not let requests set this variable"),
				call.Advice{Action: call.ActionAdd, Field: "config.request_env", Value: name},
				call.Advice{Action: call.ActionAdd, Field: "config.env", Value: name})
		}
	}
	return nil
}

// OuterSession returns the name of a variable that shows that the CLI runs inside another session of the same CLI. The
// variable can have any value. It returns "" if no such variable is set.
func OuterSession(spec *clispec.Spec, environ []string) string {
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); grammar.Matches(spec.NestedEnv, name) {
			return name
		}
	}
	return ""
}

// Environ builds the environment of the CLI from these sources, in order: the host's variables that may pass,
// Request.Env, SetEnv, quietEnv, the rows of the spec, Config.Env. A later source overrides an earlier one, so a
// request cannot override the operator or the spec. The result is sorted.
func (c *Call) Environ(spec *clispec.Spec, h Host, dir string) []string {
	vars := maps.Clone(c.Env)
	maps.Copy(vars, c.Own)
	grammar.SetAll(vars, h.SetEnv)
	grammar.SetAll(vars, quietEnv)
	for _, row := range spec.Env {
		if c.holds(row.When) {
			vars[row.Name] = c.Fields.Expand(row.Value)
		}
	}
	grammar.SetAll(vars, h.Env)
	if dir != "" && !h.Inside {
		vars["PWD"] = dir
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}
