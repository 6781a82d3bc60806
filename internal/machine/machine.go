// Package machine inspects the computer that the CLIs run on. It finds programs and their versions, and detects
// whether this process runs in a container, a sandbox or a CI job. It knows no CLI by name and runs no program.
package machine

import (
	"net"
	"os"
	"strings"
)

// Surrounding is a container, a sandbox or a CI job around this process.
type Surrounding struct {
	Code, Name string
	Sign       string // the environment variable or file that shows it
	Hint       string // how to make a CLI work there
}

const (
	ciHint      = "pass the API key of a CLI as a secret in the environment of the step; no terminal is needed"
	isolateHint = "mount the CLI's credential file, or pass its API key in the environment"
	nixHint     = "set SKIP_CLI=1 in the derivation: Nix builds have no network"
)

// sign identifies a surrounding by an environment variable that is set, or by a file that exists.
type sign struct {
	code, name, hint string
	env              string
	unset            string // an environment variable that must not be set
	file             string
	text             string // if not empty, the text that the file must contain
}

// nixBuild is the sign of a Nix build. NixBuild checks this sign alone.
var nixBuild = sign{code: "nix_build", name: "a Nix build", hint: nixHint, env: "NIX_BUILD_TOP", unset: "IN_NIX_SHELL"}

// signs are checked in this order.
var signs = []sign{
	nixBuild,
	{code: "docker", name: "a Docker container", hint: isolateHint, file: "/.dockerenv"},
	{code: "container", name: "a container", hint: isolateHint, file: "/run/.containerenv"},
	{code: "container", name: "a Kubernetes pod", hint: isolateHint, env: "KUBERNETES_SERVICE_HOST"},
	{code: "bubblewrap", name: "a Flatpak sandbox (bubblewrap)", hint: isolateHint, file: "/.flatpak-info"},
	{code: "github_actions", name: "a GitHub Actions job", hint: ciHint, env: "GITHUB_ACTIONS"},
	{code: "gitlab_ci", name: "a GitLab CI job", hint: ciHint, env: "GITLAB_CI"},
	{code: "bubblewrap", name: "a bubblewrap sandbox", hint: isolateHint, file: "/proc/1/comm", text: "bwrap"},
}

// found returns the environment variable or file that shows the surrounding, or "".
func (s sign) found() string {
	switch {
	case s.env != "" && os.Getenv(s.env) != "" && (s.unset == "" || os.Getenv(s.unset) == ""):
		return s.env
	case s.file != "" && s.text == "" && exists(s.file):
		return s.file
	case s.text != "":
		if data, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(data)) == s.text {
			return s.file
		}
	}
	return ""
}

// Surroundings lists the surroundings of this process that environment variables and files show.
func Surroundings() (list []Surrounding) {
	for _, s := range signs {
		if by := s.found(); by != "" {
			list = append(list, Surrounding{Code: s.code, Name: s.name, Sign: by, Hint: s.hint})
		}
	}
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// NixBuild returns the name of the Nix build that this process runs in, and the environment variable that shows
// it. Both are empty outside a Nix build.
func NixBuild() (name, variable string) {
	if by := nixBuild.found(); by != "" {
		return nixBuild.name, by
	}
	return "", ""
}

// Online reports whether a network interface other than loopback is up. It sends nothing, and returns true if
// the interfaces cannot be listed. Tests replace it.
var Online = func() bool {
	list, err := net.Interfaces()
	if err != nil {
		return true
	}
	for _, i := range list {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return true
		}
	}
	return false
}
