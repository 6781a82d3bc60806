package backend

import (
	"os"
	"path"
	"path/filepath"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/instance"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/workdir"
)

// InContainer reports whether the CLI runs in a container.
func (b *Backend) InContainer() bool { return b.Settings.Container != nil }

// locate finds the program to start.
func (b *Backend) locate() (path string, err error) {
	if b.InContainer() {
		return b.finder.Find([]string{b.Settings.Container.Program()})
	}
	if b.Settings.Binary != "" {
		return b.finder.Find(b.CLINames())
	}
	return b.finder.Find(b.CLINames(), b.Spec.LinkNames...)
}

// CLINames returns the possible names of the CLI's program.
func (b *Backend) CLINames() []string {
	if b.Settings.Binary != "" {
		return []string{b.Settings.Binary}
	}
	return append([]string{b.Spec.Binary}, b.Spec.AltBinaries...)
}

// Version returns the version of the program. It returns "" in a container, and if no file shows the version.
func (b *Backend) Version(path string) string {
	if b.InContainer() {
		return ""
	}
	return b.files.Version(path)
}

// TempDir returns a new path for the temporary directory of a call.
func (b *Backend) TempDir() string {
	if b.InContainer() {
		return path.Join("/tmp", localfile.TempName())
	}
	return filepath.Join(os.TempDir(), localfile.TempName())
}

// Workdir returns the settings for the working directories of the backend's calls.
func (b *Backend) Workdir() workdir.Backend {
	return workdir.Backend{Name: b.Name, Spec: b.Spec, InContainer: b.InContainer()}
}

// Host describes the part of this machine that the CLI may see. If payer is set, it excludes environment
// variables with which another account would pay.
func (b *Backend) Host(path string, payer call.Billing) compose.Host {
	barred, s := b.barred(payer), &b.Settings
	set, _ := b.overlay() // Invalid reports the error
	h := compose.Host{
		Path: path, Environ: grammar.Without(os.Environ(), barred), Env: grammar.Without(s.Env, barred),
		SetEnv:  grammar.Without(set, barred),
		PassEnv: s.PassEnv, InheritEnv: s.InheritEnv, RequestEnv: s.RequestEnv, Root: os.Geteuid() == 0,
	}
	s.Container.Describe(&h)
	h.CleanPath()
	return h
}

func (b *Backend) barred(payer call.Billing) []string { return login.Barred(payer, b.Spec.Login) }

// overlay returns the environment variables that the spec sets. The home directory of a container is unknown.
func (b *Backend) overlay() ([]string, error) {
	if len(b.given.SetEnv) == 0 {
		return nil, nil
	}
	vars := map[string]string{}
	grammar.SetAll(vars, os.Environ())
	at := login.PlaceOf(vars, "")
	if b.InContainer() {
		at.Home = ""
	}
	return instance.Environ(b.given, at)
}

// Passed returns the part of the host's environment that the CLI sees. It reads the files that determine this
// part.
func (b *Backend) Passed(h *compose.Host, dir, model string) map[string]string {
	b.ReadFiles(h, dir)
	return h.Passed(b.Spec, model)
}

// ReadFiles sets h.Shown from the files of PassEnvIf. The files in a container are unknown.
func (b *Backend) ReadFiles(h *compose.Host, dir string) {
	if len(b.Spec.PassEnvIf) > 0 && !b.InContainer() {
		h.Shown = b.pass.Shown(login.PlaceOf(h.Passed(b.Spec, ""), dir))
	}
}

// Environ returns the environment variables of this process that the CLI sees, and those that the settings set.
// It returns nil if the spec is invalid. The result contains secrets.
func (b *Backend) Environ() map[string]string {
	b.Compile()
	if b.Spec == nil {
		return nil
	}
	h := b.Host("", b.Settings.Billing)
	return b.Passed(&h, "", "")
}

// SpecNamed returns the spec with the name of the backend. For an invalid spec it returns only the name.
func (b *Backend) SpecNamed() clispec.Spec {
	b.Compile()
	if b.Spec == nil {
		return clispec.Spec{Name: b.Name}
	}
	return *b.Spec
}
