package clichain

import (
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
)

// commonEnv is what any program needs of the host's environment: to find
// programs, files and its user, to speak the user's language, and to reach the
// network the way the host does. Everything else a CLI sees is named by its
// spec or by the caller, so that no stranger's secret reaches it.
var commonEnv = []string{
	callVar, "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG", "LANGUAGE", "LC_*",
	"TMPDIR", "TMP", "TEMP", "XDG_*", "DBUS_SESSION_BUS_ADDRESS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
}

// windowsEnv is what Windows programs do not start without.
var windowsEnv = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "USERDOMAIN",
	"HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES*", "PROCESSOR_ARCHITECTURE",
	"NUMBER_OF_PROCESSORS",
}

// quietEnv keeps programs from drawing, colouring or asking.
var quietEnv = []string{"TERM=dumb", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0"}

// passed is the part of the host's environment that the CLI may see, and what
// the caller sets.
func (h *host) passed(spec *CliSpec) map[string]string {
	vars := map[string]string{}
	pass := append(slices.Concat(h.common(), spec.PassEnv), h.passEnv...)
	if runtime.GOOS == "windows" && h.container == nil {
		pass = append(pass, windowsEnv...)
	}
	for _, kv := range h.environ {
		name, value, _ := strings.Cut(kv, "=")
		if (h.inheritEnv || matchesEnv(pass, name)) && !matchesEnv(spec.DropEnv, name) && !matchesEnv(spec.NestedEnv, name) && !h.stays(name) {
			vars[name] = value
		}
	}
	setAll(vars, h.env)
	return vars
}

// nested refuses a call inside an outer session of the same agent, where that
// is the policy.
func (s *compiledSpec) nested(policy NestedPolicy, environ []string) *BackendError {
	if policy != NestedRefuse {
		return nil
	}
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); value != "" && matchesEnv(s.NestedEnv, name) {
			return &BackendError{
				Reason: ReasonNestedSession, Message: name + " is set: this process runs inside a session of the same agent", ExitCode: -1,
				Hint: "run it outside of that session, or let Config.Nested be NestedHide",
			}
		}
	}
	return nil
}

func setAll(vars map[string]string, list []string) {
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
}

// environ builds the child's environment: what may pass, the quiet settings,
// the spec's rows, what the caller sets. Later wins; the result is sorted.
func (c *call) environ(spec *CliSpec, h host, dir string) []string {
	vars := maps.Clone(c.env)
	setAll(vars, quietEnv)
	for _, row := range spec.Env {
		if c.holds(row.When) {
			vars[row.Name] = c.fields.expand(row.Value)
		}
	}
	setAll(vars, h.env)
	if dir != "" && h.container == nil {
		vars["PWD"] = dir
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// isSet reports whether a variable has a value that means yes.
func isSet(vars map[string]string, name string) bool {
	return !slices.Contains([]string{"", "0", "false"}, strings.ToLower(vars[name]))
}

// matchesEnv reports whether a variable is in a list whose entries may end in
// "*". Windows folds the case of names.
func matchesEnv(list []string, name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(list, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}
