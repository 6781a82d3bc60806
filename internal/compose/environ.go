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

// commonEnv is what any program needs of the host's environment: PATH, folders,
// user, language, proxies and certificates. Everything else a CLI sees is named
// by its spec or by the caller, so that it gets no secret meant for others.
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

// quietEnv turns off colours, drawing on the terminal and questions.
var quietEnv = []string{"TERM=dumb", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0"}

// shellEnv makes each shell run a file or a function before its command. It
// passes only by its whole name in Config.PassEnv.
var shellEnv = []string{"BASH_ENV", "ENV", "BASH_FUNC_*"}

// systemPath stands for a PATH that has no absolute folder: without any, some
// shells search the working directory.
const systemPath = "/usr/bin:/bin"

// CleanPath drops from each PATH what is no absolute folder: to the CLI it would
// mean the one that it works in, where anybody may have put a program.
func (h *Host) CleanPath() {
	h.Environ = cleanPath(h.Environ, filepath.SplitList, filepath.IsAbs, string(filepath.ListSeparator))
	if h.Inside { // where the caller's variables are meant for
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

// Passed is the part of the host's environment that a CLI may see which is asked
// for the model, "" for its own choice, and what the spec's SetEnv and Config.Env set.
func (h *Host) Passed(spec *clispec.Spec, model string) map[string]string {
	vars := map[string]string{}
	pass := slices.Concat(spec.PassEnv, h.PassEnv)
	if !h.Inside { // the rest is about this machine
		pass = append(pass, commonEnv...)
	}
	if runtime.GOOS == "windows" && !h.Inside {
		pass = append(pass, WindowsEnv...)
	}
	h.pass(spec, pass, vars)
	h.set(vars)
	var more []string
	for i, rule := range spec.PassEnvIf {
		if i < len(h.Shown) && h.Shown[i] || grammar.FirstSet(rule.Env, vars) != "" ||
			slices.ContainsFunc(rule.Models, func(prefix string) bool { return strings.HasPrefix(model, prefix) }) {
			more = append(more, rule.Pass...)
		}
	}
	if len(more) > 0 {
		h.pass(spec, more, vars)
		h.set(vars)
	}
	return vars
}

// set sets what the spec and Config.Env set, whatever was passed.
func (h *Host) set(vars map[string]string) {
	grammar.SetAll(vars, h.SetEnv)
	grammar.SetAll(vars, h.Env)
}

// pass adds the host's variables that are in the list and may be passed at all.
func (h *Host) pass(spec *clispec.Spec, list []string, vars map[string]string) {
	for _, kv := range h.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if (h.InheritEnv || grammar.Matches(list, name)) && !grammar.Matches(spec.DropEnv, name) &&
			!grammar.Matches(spec.NestedEnv, name) && !grammar.Matches(h.Withheld, name) &&
			(!grammar.Matches(shellEnv, name) || slices.Contains(h.PassEnv, name)) &&
			(!h.Inside || grammar.IsVariable(name)) {
			vars[name] = value
		}
	}
}

// allowedEnv refuses environment variables of the request that the configuration does not list. Loaders, shells,
// runtimes and the CLIs read more variables than a deny list could name.
func (h *Host) allowedEnv(env map[string]string) *call.Error {
	for _, name := range namesOf(env) {
		if !grammar.Matches(h.RequestEnv, name) {
			return advised(call.Errorf(call.ReasonUnsupported, "env."+name, "requests may not set it"),
				call.Advice{Action: call.ActionAdd, Field: "config.request_env", Value: name},
				call.Advice{Action: call.ActionAdd, Field: "config.env", Value: name})
		}
	}
	return nil
}

// OuterSession names the variable by which the CLI would see that it runs
// inside a session of itself, whatever its value; "" where none is set.
func OuterSession(spec *clispec.Spec, environ []string) string {
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); grammar.Matches(spec.NestedEnv, name) {
			return name
		}
	}
	return ""
}

// Environ builds the CLI's environment: what may pass, Request.Env, SetEnv, the quiet settings, the spec's rows,
// Config.Env. The later of two wins, so that a request overrides nothing that the operator or the spec sets. The result
// is sorted.
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
