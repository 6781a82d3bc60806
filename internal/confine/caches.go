package confine

import "github.com/clichain/clichain/call"

// cache is a directory that package managers and compilers write. Each is below the level of installed programs and
// settings.
type cache struct {
	path  string   // in the form of clispec.FileFact.Path
	users []string // programs that need it
}

var caches = []cache{
	{"${XDG_CACHE_HOME:-~/.cache}", nil},
	{"${XDG_CACHE_HOME:-~/.cache}/go-build", []string{"go"}},
	{"${XDG_CACHE_HOME:-~/.cache}/pip", []string{"pip", "pip3"}},
	{"${XDG_CACHE_HOME:-~/.cache}/uv", []string{"uv"}},
	{"${GOPATH:-~/go}/pkg", []string{"go"}},
	{"${GOCACHE}", nil},
	{"${GOMODCACHE}", nil},
	{"${npm_config_cache:-~/.npm}/_cacache", []string{"npm"}},
	{"${CARGO_HOME:-~/.cargo}/registry", []string{"cargo"}},
	{"${GRADLE_USER_HOME:-~/.gradle}/caches", []string{"gradle"}},
	{"~/.m2/repository", []string{"mvn"}},
}

// DefaultCaches returns the caches that a call may write at AccessWrite, unless Input.Caches replaces them.
func DefaultCaches() (paths []string) {
	for _, c := range caches {
		paths = append(paths, c.path)
	}
	return paths
}

// caches returns the caches that a call may write.
func (p *plan) caches() []string {
	if p.in.Caches != nil {
		return p.configured(p.in.Caches)
	}
	return p.configured(DefaultCaches())
}

// missingCaches returns the default caches that programs on PATH would create. A confined program cannot create them,
// because their directory usually contains an exception.
func (p *plan) missingCaches() (templates []string) {
	if p.in.Access != call.AccessWrite || p.in.Caches != nil {
		return nil
	}
	for _, c := range caches {
		for _, path := range p.links.expand(c.path, p.place) {
			if !p.links.look(path).exists && anyOnPath(p, c.users) {
				templates = append(templates, c.path)
			}
		}
	}
	return templates
}

func anyOnPath(p *plan, programs []string) bool {
	for _, name := range programs {
		if p.lookPath(name) != "" {
			return true
		}
	}
	return false
}
