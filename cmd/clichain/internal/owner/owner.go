// Package owner checks that a file belongs to the user that this process runs as.
package owner
