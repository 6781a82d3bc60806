package compose

import (
	"maps"
	"runtime"
	"slices"
	"strings"

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

// Passed is the part of the host's environment that the CLI may see, and what
// Config.Env sets.
func (h *Host) Passed(spec *clispec.Spec) map[string]string {
	vars := map[string]string{}
	pass := slices.Concat(spec.PassEnv, h.PassEnv)
	if !h.Inside { // the rest is about this machine
		pass = append(pass, commonEnv...)
	}
	if runtime.GOOS == "windows" && !h.Inside {
		pass = append(pass, WindowsEnv...)
	}
	for _, kv := range h.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if (h.InheritEnv || grammar.Matches(pass, name)) && !grammar.Matches(spec.DropEnv, name) &&
			!grammar.Matches(spec.NestedEnv, name) && !grammar.Matches(h.Withheld, name) &&
			(!h.Inside || grammar.IsVariable(name)) {
			vars[name] = value
		}
	}
	grammar.SetAll(vars, h.Env)
	return vars
}

// OuterSession names the variable by which the CLI would see that it runs
// inside a session of itself; "" where none is set.
func OuterSession(spec *clispec.Spec, environ []string) string {
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); value != "" && grammar.Matches(spec.NestedEnv, name) {
			return name
		}
	}
	return ""
}

// Environ builds the CLI's environment: what may pass, the quiet settings, the
// spec's rows, Config.Env. Later wins; the result is sorted.
func (c *Call) Environ(spec *clispec.Spec, h Host, dir string) []string {
	vars := maps.Clone(c.Env)
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
