package diff

// searchLimit bounds the search in one stretch: with more differing lines it uses the best path
// found so far. The time grows with the square; at this limit it is about 20 ms.
const searchLimit = 2048

// Compare returns the changes that turn a into b, in order.
func Compare(a, b []string) []Change {
	ids := make(map[string]int, len(a))
	number := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, line := range lines {
			id, ok := ids[line]
			if !ok {
				id = len(ids)
				ids[line] = id
			}
			out[i] = id
		}
		return out
	}
	c := comparison{a: number(a), b: number(b)}
	c.goneA, c.goneB = make([]bool, len(a)), make([]bool, len(b))
	c.run(len(ids))
	return c.changes()
}

// comparison marks removed lines in a and added lines in b; the others are equal, in order.
type comparison struct {
	a, b         []int
	goneA, goneB []bool
	rowA, rowB   []int // positions in a and b of lines that occur on both sides
	forth, back  []int // furthest reaching paths, by diagonal
}

// run excludes lines that occur on one side only. They cannot match, so the result stays minimal,
// and a completely rewritten text is cheap.
func (c *comparison) run(ids int) {
	inA, inB := make([]bool, ids), make([]bool, ids)
	for _, id := range c.a {
		inA[id] = true
	}
	for _, id := range c.b {
		inB[id] = true
	}
	c.rowA = keep(c.a, inB, c.goneA)
	c.rowB = keep(c.b, inA, c.goneB)
	size := len(c.rowA) + len(c.rowB) + 3
	c.forth, c.back = make([]int, 2*size), make([]int, 2*size)
	c.search(0, len(c.rowA), 0, len(c.rowB))
}

func keep(ids []int, other, gone []bool) (rows []int) {
	for i, id := range ids {
		if other[id] {
			rows = append(rows, i)
		} else {
			gone[i] = true
		}
	}
	return rows
}

func (c *comparison) equal(x, y int) bool { return c.a[c.rowA[x]] == c.b[c.rowB[y]] }

// search compares rows [x0,x1) of a with [y0,y1) of b. It strips equal ends and divides the rest at
// a point on a shortest path (Myers, "An O(ND) difference algorithm and its variations", 1986,
// section 4b).
func (c *comparison) search(x0, x1, y0, y1 int) {
	for {
		for x0 < x1 && y0 < y1 && c.equal(x0, y0) {
			x0, y0 = x0+1, y0+1
		}
		for x0 < x1 && y0 < y1 && c.equal(x1-1, y1-1) {
			x1, y1 = x1-1, y1-1
		}
		if x0 == x1 || y0 == y1 {
			for ; x0 < x1; x0++ {
				c.goneA[c.rowA[x0]] = true
			}
			for ; y0 < y1; y0++ {
				c.goneB[c.rowB[y0]] = true
			}
			return
		}
		x, y := c.middle(x0, x1, y0, y1)
		c.search(x0, x, y0, y)
		x0, y0 = x, y
	}
}

// middle searches from both ends until the paths meet. It returns a point other than both corners.
func (c *comparison) middle(x0, x1, y0, y1 int) (int, int) {
	zero := len(c.rowB) + 1 // diagonal x-y = 0
	low, high := x0-y1, x1-y0
	start, end := x0-y0, x1-y1
	odd := (start-end)%2 != 0
	f := window{c.forth, zero, start, start}
	b := window{c.back, zero, end, end}
	f.row[zero+start], b.row[zero+end] = x0, x1
	for d := 1; ; d++ {
		f.widen(low, high, -1)
		for k := f.hi; k >= f.lo; k -= 2 {
			x := max(f.row[zero+k-1]+1, f.row[zero+k+1])
			for x < x1 && x-k < y1 && c.equal(x, x-k) {
				x++
			}
			f.row[zero+k] = x
			if odd && b.lo <= k && k <= b.hi && b.row[zero+k] <= x {
				return x, x - k
			}
		}
		b.widen(low, high, int(^uint(0)>>1)-1)
		for k := b.hi; k >= b.lo; k -= 2 {
			x := min(b.row[zero+k-1], b.row[zero+k+1]-1)
			for x > x0 && x-k > y0 && c.equal(x-1, x-k-1) {
				x--
			}
			b.row[zero+k] = x
			if !odd && f.lo <= k && k <= f.hi && x <= f.row[zero+k] {
				return x, x - k
			}
		}
		if d >= searchLimit {
			return c.furthest(f, x0, x1, y0, y1)
		}
	}
}

// window is the band of diagonals reached in one direction.
type window struct {
	row    []int
	zero   int
	lo, hi int
}

// widen extends the band by one diagonal on each side, or shrinks it at an edge. Outside the band
// is a value that never wins.
func (w *window) widen(low, high, never int) {
	if w.lo > low {
		w.lo--
		w.row[w.zero+w.lo-1] = never
	} else {
		w.lo++
	}
	if w.hi < high {
		w.hi++
		w.row[w.zero+w.hi+1] = never
	} else {
		w.hi--
	}
}

// furthest gives up on the shortest path and divides where the forward search got furthest.
func (c *comparison) furthest(f window, x0, x1, y0, y1 int) (int, int) {
	bestX, bestY := x0, y0
	for k := f.lo; k <= f.hi; k += 2 {
		x := min(f.row[f.zero+k], x1)
		y := x - k
		if y > y1 {
			x, y = y1+k, y1
		}
		if x+y > bestX+bestY {
			bestX, bestY = x, y
		}
	}
	return bestX, bestY
}

func (c *comparison) changes() (out []Change) {
	x, y := 0, 0
	for x < len(c.a) || y < len(c.b) {
		at := Change{Old0: x, New0: y}
		for x < len(c.a) && c.goneA[x] {
			x++
		}
		for y < len(c.b) && c.goneB[y] {
			y++
		}
		if x > at.Old0 || y > at.New0 {
			at.Old1, at.New1 = x, y
			out = append(out, at)
			continue
		}
		x, y = x+1, y+1
	}
	return out
}
