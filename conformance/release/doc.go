// Package release makes a release of this checkout in its own repository and plays a reader who has only the README:
// it runs each command and each Go file in it, in an empty home. It must never write to this checkout.
package release
