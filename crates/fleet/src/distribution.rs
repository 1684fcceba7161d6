//! How often something happens in a generated fleet.

use hence_model::random::Random;

/// How often something happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Always so often.
    Constant(usize),
    /// Evenly around a mean.
    Uniform {
        /// The mean.
        mean: f64,
        /// The variance.
        variance: f64,
    },
    /// As often as rare things happen by chance; the variance is the mean.
    Poisson {
        /// The mean.
        mean: f64,
    },
    /// Most often near the mean.
    Normal {
        /// The mean.
        mean: f64,
        /// The variance.
        variance: f64,
    },
}

impl Distribution {
    /// How often it happens this time.
    pub fn sample(self, random: &mut Random) -> usize {
        let mut unit = || (random.number() >> 11) as f64 / (1u64 << 53) as f64;
        let mut normal = |mean: f64, variance: f64| {
            let radius = (-2.0 * (1.0 - unit()).ln()).sqrt();
            mean + variance.sqrt() * radius * (std::f64::consts::TAU * unit()).cos()
        };
        match self {
            Distribution::Constant(count) => count,
            Distribution::Uniform { mean, variance } => {
                let half = (3.0 * variance).sqrt();
                whole(mean - half + 2.0 * half * unit())
            }
            Distribution::Normal { mean, variance } => whole(normal(mean, variance)),
            Distribution::Poisson { mean } if mean > 30.0 => whole(normal(mean, mean)),
            Distribution::Poisson { mean } => {
                let mut rest = (-mean).exp();
                let mut sum = unit();
                let mut count = 0;
                let mut probability = rest;
                while sum > probability && count < 1000 {
                    sum -= probability;
                    count += 1;
                    rest *= mean / count as f64;
                    probability = rest;
                }
                count
            }
        }
    }
}

fn whole(number: f64) -> usize {
    number.round().max(0.0) as usize
}
