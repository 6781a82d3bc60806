package clispec

import (
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/semver"
)

// packageShape matches the name of an npm package, with or without a scope.
var packageShape = pattern.Of(`^(@[a-z0-9._-]+/)?[a-z0-9][a-z0-9._-]*$`)

// AppliesTo reports whether a version of the CLI is within Since and Before. The empty version is newer than all
// others.
func (w When) AppliesTo(version string) bool {
	if w.Since == "" && w.Before == "" {
		return true
	}
	return !semver.Less(version, w.Since) && (w.Before == "" || semver.Less(version, w.Before))
}

func (v *validator) packageName(path, name string) {
	if !packageShape().MatchString(name) {
		v.add(path, name, "is not the name of an npm package, such as \"@scope/name\"")
	}
}

// versions checks the bounds of a condition.
func (v *validator) versions(path string, w When) {
	bound := func(path, version string) bool {
		if version != "" && !semver.Valid(version) {
			v.add(path, version, "is not a version: write it as the CLI prints it, such as \"2.1.0\"")
		}
		return semver.Valid(version)
	}
	since, before := bound(path+".since", w.Since), bound(path+".before", w.Before)
	if since && before && !semver.Less(w.Since, w.Before) {
		v.add(path+".before", w.Before, "must be higher than since, which is "+w.Since)
	}
}
