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

// CLINames are the names that the program of the CLI can have.
func (b *Backend) CLINames() []string {
	if b.Settings.Binary != "" {
		return []string{b.Settings.Binary}
	}
	return append([]string{b.Spec.Binary}, b.Spec.AltBinaries...)
}

// Version is that of the program; "" in a container, and if its files do not tell it.
func (b *Backend) Version(path string) string {
	if b.InContainer() {
		return ""
	}
	return b.files.Version(path)
}

// TempDir is a new name for the directory of a call's temporary files.
func (b *Backend) TempDir() string {
	if b.InContainer() {
		return path.Join("/tmp", localfile.TempName())
	}
	return filepath.Join(os.TempDir(), localfile.TempName())
}

// Workdir has the working directories of the backend's calls.
func (b *Backend) Workdir() workdir.Backend {
	return workdir.Backend{Name: b.Name, Spec: b.Spec, InContainer: b.InContainer()}
}

// Host is what the CLI may see of this machine. If payer is set, variables by which another account would pay are left
// out.
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

// overlay is what the spec sets. The home directory of a container is unknown.
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

// Passed is what the CLI sees of the host's environment. It reads the files on which that depends.
func (b *Backend) Passed(h *compose.Host, dir, model string) map[string]string {
	b.ReadFiles(h, dir)
	return h.Passed(b.Spec, model)
}

// ReadFiles sets what the files of PassEnvIf say. The files of a container are unknown.
func (b *Backend) ReadFiles(h *compose.Host, dir string) {
	if len(b.Spec.PassEnvIf) > 0 && !b.InContainer() {
		h.Shown = b.pass.Shown(login.PlaceOf(h.Passed(b.Spec, ""), dir))
	}
}

// Environ returns the variables of this process that the CLI sees, and those that the settings set; nil if the spec is
// invalid. It holds secrets.
func (b *Backend) Environ() map[string]string {
	b.Compile()
	if b.Spec == nil {
		return nil
	}
	h := b.Host("", b.Settings.Billing)
	return b.Passed(&h, "", "")
}

// SpecNamed returns the spec under the name of the backend; of an invalid spec only the name.
func (b *Backend) SpecNamed() clispec.Spec {
	b.Compile()
	if b.Spec == nil {
		return clispec.Spec{Name: b.Name}
	}
	return *b.Spec
}
