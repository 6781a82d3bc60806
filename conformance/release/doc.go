// Package release makes a release of this checkout in a temporary repository. It then runs each command and each Go
// file of README and of two pages that README links to, in an empty home. It must never write to this checkout.
package release
