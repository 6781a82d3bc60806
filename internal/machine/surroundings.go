package machine

import (
	"net"
	"os"
	"runtime"
	"strings"
)

// Surrounding is a container, a sandbox or a CI job around this process.
type Surrounding struct {
	Code, Name string
	Sign       string // what shows it: a variable or a file
	Hint       string
}

const (
	ciHint      = "give the key of a CLI as a secret in the environment of the step; no terminal is needed"
	isolateHint = "mount the CLI's credential file, or pass its key in the environment"
)

// knownSurroundings are looked for in this order.
var knownSurroundings = []struct {
	Surrounding
	env   string // set
	unset string // not set
	file  string
}{
	{Surrounding: Surrounding{Code: "nix_build", Name: "a Nix build", Hint: "set SKIP_CLI=1 in the derivation: a build has no network"}, env: "NIX_BUILD_TOP", unset: "IN_NIX_SHELL"},
	{Surrounding: Surrounding{Code: "docker", Name: "a Docker container", Hint: isolateHint}, file: "/.dockerenv"},
	{Surrounding: Surrounding{Code: "container", Name: "a container", Hint: isolateHint}, file: "/run/.containerenv"},
	{Surrounding: Surrounding{Code: "container", Name: "a pod of Kubernetes", Hint: isolateHint}, env: "KUBERNETES_SERVICE_HOST"},
	{Surrounding: Surrounding{Code: "bubblewrap", Name: "a Flatpak sandbox (bubblewrap)", Hint: isolateHint}, file: "/.flatpak-info"},
	{Surrounding: Surrounding{Code: "github_actions", Name: "a job of GitHub Actions", Hint: ciHint}, env: "GITHUB_ACTIONS"},
	{Surrounding: Surrounding{Code: "gitlab_ci", Name: "a job of GitLab CI", Hint: ciHint}, env: "GITLAB_CI"},
}

// Surroundings lists what is around this process, as far as it shows.
func Surroundings() (found []Surrounding) {
	for _, k := range knownSurroundings {
		s := k.Surrounding
		switch {
		case k.env != "" && os.Getenv(k.env) != "" && (k.unset == "" || os.Getenv(k.unset) == ""):
			s.Sign = k.env
		case k.file != "" && exists(k.file):
			s.Sign = k.file
		default:
			continue
		}
		found = append(found, s)
	}
	if runtime.GOOS == "linux" {
		if name, err := os.ReadFile("/proc/1/comm"); err == nil && strings.TrimSpace(string(name)) == "bwrap" {
			found = append(found, Surrounding{Code: "bubblewrap", Name: "a bubblewrap sandbox", Sign: "/proc/1/comm", Hint: isolateHint})
		}
	}
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// NixBuild is the variable that shows a Nix build around this process; empty
// where there is none.
func NixBuild() (name, sign string) {
	if nix := knownSurroundings[0]; os.Getenv(nix.env) != "" && os.Getenv(nix.unset) == "" {
		return nix.Name, nix.env
	}
	return "", ""
}

// Online reports whether there is a network beside loopback, as far as can be
// told without sending anything. A variable, so that tests can say so.
var Online = func() bool {
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
