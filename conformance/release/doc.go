// Package release makes a release of this checkout in a repository of its own, and plays somebody who has nothing but
// the text of README: each command and each Go file in it is run, in an empty home. It must never write to this
// checkout.
package release
