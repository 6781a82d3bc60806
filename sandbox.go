package clichain

import (
	"net"
	"os"
	"runtime"
	"strings"
)

// SandboxPolicy says what happens in a sandbox, where a backend would stall on
// a network that is not there, or ask for a login that nobody can give.
type SandboxPolicy string

const (
	// SandboxAuto, also the meaning of the zero value: as SandboxOn inside a
	// Nix build, else as SandboxOff.
	SandboxAuto SandboxPolicy = "auto"
	// SandboxOn: this is one. Only backends that are known to be logged in are
	// tried, and none where the machine has no network but loopback.
	SandboxOn SandboxPolicy = "on"
	// SandboxOff: nothing is skipped on account of a sandbox.
	SandboxOff SandboxPolicy = "off"
)

// surrounding is a container, a sandbox or a CI job around this process.
type surrounding struct {
	code, name string
	sign       string // what shows it: a variable or a file
	hint       string
}

const (
	ciHint      = "give the key of a CLI as a secret in the environment of the step; no terminal is needed"
	isolateHint = "mount the CLI's credential file, or pass its key in the environment"
)

// knownSurroundings are looked for in this order.
var knownSurroundings = []struct {
	surrounding
	env   string // set
	unset string // not set
	file  string
}{
	{surrounding: surrounding{code: "nix_build", name: "a Nix build", hint: "set SKIP_CLI=1 in the derivation: a build has no network"}, env: "NIX_BUILD_TOP", unset: "IN_NIX_SHELL"},
	{surrounding: surrounding{code: "docker", name: "a Docker container", hint: isolateHint}, file: "/.dockerenv"},
	{surrounding: surrounding{code: "container", name: "a container", hint: isolateHint}, file: "/run/.containerenv"},
	{surrounding: surrounding{code: "container", name: "a pod of Kubernetes", hint: isolateHint}, env: "KUBERNETES_SERVICE_HOST"},
	{surrounding: surrounding{code: "bubblewrap", name: "a Flatpak sandbox (bubblewrap)", hint: isolateHint}, file: "/.flatpak-info"},
	{surrounding: surrounding{code: "github_actions", name: "a job of GitHub Actions", hint: ciHint}, env: "GITHUB_ACTIONS"},
	{surrounding: surrounding{code: "gitlab_ci", name: "a job of GitLab CI", hint: ciHint}, env: "GITLAB_CI"},
}

// surroundings lists what is around this process, as far as it shows.
func surroundings() (found []surrounding) {
	for _, k := range knownSurroundings {
		s := k.surrounding
		switch {
		case k.env != "" && os.Getenv(k.env) != "" && (k.unset == "" || os.Getenv(k.unset) == ""):
			s.sign = k.env
		case k.file != "" && exists(k.file):
			s.sign = k.file
		default:
			continue
		}
		found = append(found, s)
	}
	if runtime.GOOS == "linux" {
		if name, err := os.ReadFile("/proc/1/comm"); err == nil && strings.TrimSpace(string(name)) == "bwrap" {
			found = append(found, surrounding{code: "bubblewrap", name: "a bubblewrap sandbox", sign: "/proc/1/comm", hint: isolateHint})
		}
	}
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// sandbox is the name and the sign of the sandbox that the policy heeds; both
// are empty where there is none.
func (p SandboxPolicy) sandbox() (name, sign string) {
	switch p {
	case SandboxOn:
		return "a sandbox", "Config.Sandbox"
	case SandboxOff:
		return "", ""
	}
	if nix := knownSurroundings[0]; os.Getenv(nix.env) != "" && os.Getenv(nix.unset) == "" {
		return nix.name, nix.env
	}
	return "", ""
}

// sandboxed is the skip of a backend that could only stall in here.
func (p *Provider) sandboxed(l login) *BackendError {
	name, sign := p.cfg.Sandbox.sandbox()
	switch {
	case sign == "" || p.cfg.Container != nil:
		return nil
	case l.state != LoginAuthenticated:
		return inSandbox("inside %s (%s), and no credentials are in there", name, sign)
	case !online():
		return inSandbox("inside %s (%s), which has no network", name, sign)
	}
	return nil
}

func inSandbox(format string, args ...any) *BackendError {
	err := mistake(ReasonSuppressed, "", format, args...)
	err.Hint = "let Config.Sandbox be SandboxOff to try all the same"
	return err
}

// online reports whether there is a network beside loopback, as far as can be
// told without sending anything. A variable, so that tests can say so.
var online = func() bool {
	list, err := net.Interfaces()
	if err != nil {
		return true // in doubt
	}
	for _, i := range list {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return true
		}
	}
	return false
}
