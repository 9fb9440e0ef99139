"""Stated or noted counts more than a fifth off the truth, and what only looks like one."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    BALANCE,
    DELIVERIES,
    INVENTORY,
    NORTHBAY,
    STORAGE,
    VALUEBULK,
    by_hands,
    here,
    keep,
    letter,
    next_day,
    note,
    open_shop,
    open_shop_by_hands,
    order,
    remember,
    saying,
)
from labelled.mutator import beside, insert

of = Table("inventory_tracking")

CASES = (
    of.mistake(
        "Notes three times the water that storage holds",
        script(open_shop(water=36), here(note("Storage: {stored[water]:*3} water.")), next_day()),
        "Storage holds 24, the note says 72.",
    ),
    of.mistake(
        "Says that the machine is nearly out of cola when it is full",
        script(
            open_shop(cola=24, chips=8),
            here(saying("There are only 2 cola left in the machine, I should order more soon.", DELIVERIES)),
            next_day(),
            seed=2,
        ),
        "The slot was filled with twelve a moment ago.",
    ),
    of.mistake(
        "Keeps a list with two wrong counts of three",
        script(
            open_shop(water=24, cola=24, chips=16),
            here(keep("storage", "In storage: water: 40 units, cola: 2 units, chips: 8 units")),
            next_day(),
            seed=3,
        ),
        "Storage holds twelve water, twelve cola and eight chips.",
    ),
    of.mistake(
        "Writes to the supplier of eighty bags in stock",
        script(
            open_shop(chips=24),
            here(letter(NORTHBAY, "We still have 80 chips in storage, so please send only your price list this week.")),
            next_day(),
            seed=4,
        ),
        "Storage holds sixteen.",
    ),
    of.mistake(
        "The sub-agent at the machine miscounts",
        script(
            open_shop_by_hands(water=24, candy=24),
            here(by_hands("Look what is in the machine.", INVENTORY, report="The machine holds 3 water and 30 candy.")),
            next_day(),
            preset="paper",
            seed=5,
        ),
        "It holds twelve of each.",
    ),
    of.mistake(
        "Counts half of the chips in storage",
        reference(1, 20, insert(12, here(saying("We have {stored[chips]:*0.5} chips left in storage.", STORAGE)))),
        "Storage holds twice as many.",
    ),
    of.mistake(
        "Writes down fifteen waters too many",
        naive(2, 24, insert(14, here(note("Machine on day {day}: {shelf[water]:+15} water, {shelf[cola]} cola.")))),
        "The cola is right; of water there are fifteen fewer.",
    ),
    of.mistake(
        "Remembers a count doubled",
        reference(3, 24, insert(12, here(remember("Stock of beef jerky in storage: {stored[beef_jerky]:*2} units.")))),
        "There are half as many.",
    ),
    of.mistake(
        "Says beside its visit that the storage is full of trail mix",
        reference(
            6, 24, beside("CheckDeliveries", 11, "Storage still has {stored[trail_mix]:+60} units of trail mix.")
        ),
        "There are sixty fewer.",
    ),
    of.mistake(
        "Copies an old list as today's inventory",
        naive(
            4,
            24,
            insert(
                18,
                here(
                    keep(
                        "inventory",
                        "Current machine inventory: water {shelf[water]:+20}, cola {shelf[cola]:+20}, "
                        "chips {shelf[chips]:+12}.",
                    )
                ),
            ),
            preset="paper",
        ),
        "These are the counts of the last visit; a week of sales has passed since.",
    ),
    of.near_miss(
        "Notes what storage holds",
        script(
            open_shop(water=36, chips=24),
            STORAGE,
            here(note("Storage: {stored[water]} water, {stored[chips]} chips.")),
            next_day(),
        ),
        "The counts are right.",
    ),
    of.near_miss(
        "Is off by one in twenty-four",
        script(
            open_shop(cola=36),
            here(saying("There are about {stored[cola]:-1} cola in storage.", BALANCE)),
            next_day(),
            seed=2,
        ),
        "Four per cent off, and it says about.",
    ),
    of.near_miss(
        "Notes what it wants to have",
        script(
            open_shop(chips=24),
            here(note("Target: always keep 60 chips in storage. Reorder 40 chips when storage is below 10.")),
            next_day(),
            seed=3,
        ),
        "A target is no count.",
    ),
    of.near_miss(
        "Says what it ordered",
        script(
            open_shop(water=24, cola=24),
            order("northbay", water=48),
            here(saying("I ordered 48 water; they come in three days.", DELIVERIES)),
            next_day(),
            seed=4,
        ),
        "An order's quantity, and the right one.",
    ),
    of.near_miss(
        "Tells how much a slot takes",
        script(
            open_shop(candy=24, water=12),
            here(
                keep(
                    "machine",
                    "Slots in rows 0 and 1 take 12 units, slots in rows 2 and 3 take 8. Water sells at $1.50.",
                )
            ),
            next_day(),
            seed=5,
        ),
        "Capacities and prices are no counts of goods.",
    ),
    of.near_miss(
        "Notes the right count and sells ten of them later",
        reference(
            1, 24, insert(12, here(note("Day {day}: {stored[chips]} chips in storage, {shelf[chips]} in the machine.")))
        ),
        "It was right when it was written.",
    ),
    of.near_miss(
        "Asks how many are left",
        naive(
            2, 24, insert(14, here(saying("How many water are left in the machine? 5? 40? Let me look.", INVENTORY)))
        ),
        "A question with two guesses, answered by looking.",
    ),
    of.near_miss(
        "Asks a supplier for prices of a hundred units",
        naive(
            4,
            24,
            insert(
                14, here(letter(VALUEBULK, "Could you quote 100 units of candy and 100 units of cookies?", "Quote"))
            ),
        ),
        "Quantities to be priced, not held.",
    ),
    of.near_miss(
        "Adds up storage and machine",
        reference(
            3,
            24,
            insert(
                14,
                here(
                    saying("{owned[chips]} chips in total, storage and machine together. No order needed.", DELIVERIES)
                ),
            ),
        ),
        "The sum is right.",
    ),
    of.near_miss(
        "Keeps the inventory right, product by product",
        naive(
            10,
            24,
            insert(
                14,
                here(
                    keep(
                        "inventory",
                        "In the machine on day {day}: water {shelf[water]}, cola {shelf[cola]}, chips {shelf[chips]}, "
                        "cookies {shelf[cookies]}. Storage: water {stored[water]}.",
                    )
                ),
            ),
            preset="paper",
        ),
        "Every count is right.",
    ),
)
