// Distributes positions on a line.

// Returns the positions nearest to `wanted` (weighted least squares) that keep the order, with a
// distance of at least `apart[i]` between i-1 and i. Neighbors that collide form pools that move as
// one.
export function spread(wanted, weights, apart) {
  const pools = [];
  let offset = 0;
  const offsets = wanted.map((_, i) => (offset += i === 0 ? 0 : apart[i]));
  wanted.forEach((x, i) => {
    let pool = {sum: (x - offsets[i]) * weights[i], weight: weights[i], count: 1};
    while (pools.length > 0 && pools.at(-1).sum / pools.at(-1).weight > pool.sum / pool.weight) {
      const left = pools.pop();
      pool = {sum: left.sum + pool.sum, weight: left.weight + pool.weight, count: left.count + pool.count};
    }
    pools.push(pool);
  });
  const places = [];
  for (const pool of pools) {
    for (let k = 0; k < pool.count; ++k) places.push(pool.sum / pool.weight + offsets[places.length]);
  }
  return places;
}

// Returns positions between `least` and `most` near to `wanted` that keep the order, with a
// distance of at least `apart[i]` between i and i+1. If there is not enough room, reduces the
// distances, those above `fair` first.
export function spreadWithin(wanted, weights, apart, fair, least, most) {
  const room = Math.max(0, most - least), sumOf = (gaps) => gaps.reduce((sum, gap) => sum + gap, 0);
  const low = apart.map((gap) => Math.min(gap, fair)), [sum, lowest] = [sumOf(apart), sumOf(low)];
  const share = sum > lowest ? Math.max(0, Math.min(1, (room - lowest) / (sum - lowest))) : 1;
  const squeeze = lowest > room ? room / lowest : 1;
  const gaps = [0, ...apart.map((gap, i) => (low[i] + (gap - low[i]) * share) * squeeze)];
  const inside = wanted.map((x) => Math.min(most, Math.max(least, x)));
  const places = spread(inside, weights, gaps);
  places.forEach((x, i) => (places[i] = Math.max(x, i === 0 ? least : places[i - 1] + gaps[i])));
  for (let i = places.length - 1; i >= 0; --i) {
    places[i] = Math.min(places[i], i + 1 === places.length ? most : places[i + 1] - gaps[i + 1]);
  }
  return places;
}
