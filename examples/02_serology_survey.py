"""Of 3,330 people 50 tested positive, about as many as the test gets wrong; how many had the infection is asked.

The numbers are those of the survey in Santa Clara County, April 2020, and of the test's validation as first pooled.
"""

import truecount as tc

# The test found 103 of 122 infected people, and cleared 399 of 401 others.
counts, _ = tc.survey((50, 3330), sensitivity=(103, 122), specificity=(399, 401))
posterior = tc.infer(counts, seed=0)
print("Rates learned from the validation:")
print(posterior)
below = posterior.probability(lambda share: share["positive"] < 0.01)
print(f"Below 1 % with probability {below:.0%}.\n")

# Had the rates been known for certain, the interval would be narrower, and wrongly so.
_, known = tc.survey((50, 3330), sensitivity=103 / 122, specificity=399 / 401)
certain = tc.infer(counts, prior=tc.Prior.known_confusion(known), seed=0)
print("Rates taken as known:")
print(certain)

widths = [float(each.interval()[1, 1] - each.interval()[1, 0]) for each in (posterior, certain)]
print(f"The interval of those infected is {widths[0] / widths[1]:.1f} times as wide when the rates are learned.")
