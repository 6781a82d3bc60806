// Package backend combines the spec of a CLI, compiled, with the settings of a backend. It finds the program,
// determines which part of the environment the program sees, and decides whether a call may start.
package backend

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/instance"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/misconfig"
	"github.com/clichain/clichain/internal/skiplist"
)

// Backend is a spec with its settings. It is safe for concurrent use after Init. The zero Backend has no spec
// and is invalid.
type Backend struct {
	Name     string
	Settings Settings

	given     *clispec.Spec
	finder    machine.Finder
	configErr *call.Error // the mistakes in the settings or, after validation, in the spec

	validated sync.Once
	specErr   error

	compiled sync.Once
	Spec     *clispec.Spec          // nil until Compile, and if it is invalid; the same applies to the fields below
	Composer *compose.Composer      // composes invocations
	Program  func() *decode.Program // decodes the events of a run
	// LiveProgram decodes the events of a process that answers many requests.
	LiveProgram func() *decode.Program
	Judge       func() *judge.Judge
	Login       *login.Prober
	pass        *login.PassRules
	files       machine.Installed // determines the version of the program
}

// Init sets the spec and the settings. It does no I/O. The spec is validated on first use.
func (b *Backend) Init(spec clispec.Spec, settings Settings) {
	b.given, b.Settings = &spec, settings
	named := instance.Named(spec, settings.Name)
	b.Name = named.Name
	skiplist.Know(b.Name, listNames(&named)...)
	b.configErr = misconfig.Merge("config", append(settings.Mistakes(), b.aliasMistakes()...))
}

// aliasMistakes lists the aliases that are names of the backend itself.
func (b *Backend) aliasMistakes() (list []*call.Error) {
	for _, alias := range slices.Sorted(maps.Keys(b.Settings.ModelAliases)) {
		if slices.Contains([]string{b.Name, b.given.ProviderSlug, b.given.DefaultModel}, alias) && alias != "" {
			list = append(list, aliasMistake(alias, "-", alias))
		}
	}
	return list
}

// Invalidate makes every call fail with the error, unless the settings are already invalid.
func (b *Backend) Invalidate(err *call.Error) { b.configErr = cmp.Or(b.configErr, err) }

// validate validates the spec once.
func (b *Backend) validate() (valid bool) {
	b.validated.Do(func() {
		if b.given == nil {
			return
		}
		if b.specErr = b.given.Validate(); b.specErr != nil {
			b.configErr = call.ConfigError("spec", b.specErr)
		}
	})
	return b.given != nil && b.specErr == nil
}

// Compile compiles a valid spec, once. A process may have backends that it never uses, so the parts that only a
// run needs are compiled later.
func (b *Backend) Compile() {
	b.compiled.Do(func() {
		if !b.validate() {
			return
		}
		spec := instance.Named(*b.given, b.Settings.Name)
		spec.Hints = instance.Hints(&spec, b.Settings.Env)
		spec.UseModel = cmp.Or(b.Settings.Model, spec.UseModel)
		spec.UseEffort = cmp.Or(b.Settings.Effort, spec.UseEffort)
		b.Spec, b.Composer = &spec, compose.New(&spec, b.Settings.ModelAliases)
		b.Program = sync.OnceValue(func() *decode.Program { return decode.Compile(spec.Events) })
		b.LiveProgram = b.Program
		if events := spec.Live.Events; len(events) > 0 {
			b.LiveProgram = sync.OnceValue(func() *decode.Program { return decode.Compile(events) })
		}
		b.Judge = sync.OnceValue(func() *judge.Judge { return judge.New(&spec) })
		b.Login, b.pass = login.New(spec.Login), login.NewPassRules(spec.PassEnvIf)
		b.files.Packages = spec.Packages
	})
}

// Invalid returns the mistakes in the spec or the settings, or nil if there are none. It does not compile the
// spec.
func (b *Backend) Invalid() *call.Error {
	b.validate()
	switch {
	case b.configErr != nil:
		return new(*b.configErr)
	case b.given == nil:
		return call.ConfigErrorf("provider", "has no CLI; create it with NewProvider")
	}
	if _, err := b.overlay(); err != nil {
		return call.ConfigErrorf("spec", "%s", err)
	}
	return nil
}

// Label sets the name of the backend and the hint of its spec on the error of a call that started no run. A nil
// error stays nil.
func (b *Backend) Label(err *call.Error) *call.Error {
	if err == nil {
		return nil
	}
	err.Backend, err.Stage = b.Name, call.StageSkipped
	b.Compile()
	if b.Spec != nil {
		judge.AddHint(err, b.Spec.Hints[err.Reason])
	}
	return err
}

// Model returns the name that the CLI uses for a model, or "" for its default. ok is false if the backend does
// not have the model.
func (b *Backend) Model(name string) (model string, ok bool) {
	b.Compile()
	if b.Spec == nil {
		return "", false
	}
	return b.Composer.Models.Resolve(name)
}

// Claims reports whether the model belongs to the backend.
func (b *Backend) Claims(model string) bool {
	b.Compile()
	return b.Spec != nil && b.Composer.Models.Claims(model)
}
